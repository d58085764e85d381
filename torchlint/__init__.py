"""torchlint: a static linter for PyTorch code.

`lint` and `fix` are for programs that lint programs; everything else that is public stands in the modules.
"""

# Nothing is imported here: this runs before `__main__` has taken the working directory off the path.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.api import fix as fix
    from torchlint.api import lint as lint

__version__ = "0.1.0"

__all__ = ["__version__", "fix", "lint"]


def __getattr__(name: str) -> object:
    """Imports `lint` and `fix` when they are asked for, so that the command starts at once."""
    if name in ("fix", "lint"):
        import torchlint.api

        return getattr(torchlint.api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
