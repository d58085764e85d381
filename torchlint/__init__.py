"""torchlint: a static linter for PyTorch code.

`lint` and `fix` are for programs that lint programs, beside the types of what they return and raise; everything else that is
public stands in the modules.
"""

# Nothing is imported here: this runs before `__main__` has taken the working directory off the path.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.api import FixResult as FixResult
    from torchlint.api import fix as fix
    from torchlint.api import lint as lint
    from torchlint.diagnostic import Applicability as Applicability
    from torchlint.diagnostic import Diagnostic as Diagnostic
    from torchlint.diagnostic import Edit as Edit
    from torchlint.diagnostic import Fix as Fix
    from torchlint.diagnostic import Location as Location
    from torchlint.text.source import SourceError as SourceError

__version__ = "1.0.0rc1"

_DEFINED_IN = {
    **dict.fromkeys(("FixResult", "fix", "lint"), "torchlint.api"),
    **dict.fromkeys(("Applicability", "Diagnostic", "Edit", "Fix", "Location"), "torchlint.diagnostic"),
    "SourceError": "torchlint.text.source",
}

__all__ = ["__version__", *_DEFINED_IN]


def __getattr__(name: str) -> object:
    """Imports what is asked for when it is, so that the command starts at once."""
    if name in _DEFINED_IN:
        from importlib import import_module

        return getattr(import_module(_DEFINED_IN[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
