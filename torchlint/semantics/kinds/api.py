"""The kinds of what imports give: of torch and other libraries, and of the project's other files."""

from __future__ import annotations

from dataclasses import replace

from torchlint.semantics import torch_api
from torchlint.semantics.kinds.kind import NUMBER, UNKNOWN, Basis, Kind, Type, item_of, join, sequence
from torchlint.semantics.summaries.callers import Callers
from torchlint.semantics.summaries.calls import PARAMETER, Parameter
from torchlint.semantics.summaries.elsewhere import Elsewhere
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Lookup, Outside, Target, ValueElsewhere
from torchlint.semantics.summaries.summary import Made

_FOREIGN = (
    "torchvision.datasets",
    "torchtext",
    "argparse",
    "xml",
    "requests",
    "urllib",
    "pandas",
    "collections",
    "json",
    "tensorflow",
)
_DEEPEST = 8
"""So many functions that give what another one gives are followed."""
_TELLING = frozenset({Type.MODULE, Type.OPTIMIZER, Type.SCHEDULER, Type.LOADER})
_HANDED_ON = 4
"""So many functions may hand a value on to one another."""


def api_kind(name: str) -> Kind:
    """The kind of something that an import gives, by its dotted name."""
    if name in torch_api.MODULES or name in torch_api.OPTIMIZERS or name in torch_api.SCHEDULERS:
        return Kind(Type.CLASS, name=name)
    if name in ("torch.pi", "torch.inf", "torch.nan", "numpy.pi", "numpy.inf", "math.pi"):
        return NUMBER
    if name.startswith(_FOREIGN):
        return Kind(Type.FUNCTION, name=name)
    if name.startswith(("torch.", "numpy.")):
        return Kind(Type.FUNCTION, name=name)
    return UNKNOWN


# --- other files of the project ------------------------------------------------------------------------------------------


def kind_of(target: Target | None, elsewhere: Elsewhere) -> Kind:
    """The kind of what an imported name stands for: of classes of modules, of what is made once, of what torch has."""
    match target:
        case Outside(name=name):
            return api_kind(name)
        case ClassElsewhere() if _is_module(target, elsewhere.lookup):
            return Kind(Type.CLASS, name=target.name, elsewhere=target)
        case ValueElsewhere(file=file, made=made):
            return _made(made, file, elsewhere.lookup, _DEEPEST)
    return UNKNOWN


def instance_of(found: ClassElsewhere) -> Kind:
    """What calling a class of another file's modules gives."""
    return Kind(Type.MODULE, name=found.name, elsewhere=found, why=f"made by `{found.name}`", basis=Basis.ELSEWHERE)


def given_by(found: FunctionElsewhere, elsewhere: Elsewhere) -> Kind:
    """What calling a function of another file gives."""
    kind = _given(found, elsewhere.lookup, _DEEPEST)
    elsewhere.has_said = elsewhere.has_said or kind.known
    return kind


def _given(found: FunctionElsewhere, lookup: Lookup, depth: int) -> Kind:
    return UNKNOWN if found.summary.hidden else _made(found.summary.gives, found.file, lookup, depth)


def _made(made: Made, file: str, lookup: Lookup, depth: int) -> Kind:
    """The kind of a value that is made in another file."""
    if made.items:
        return sequence(items=tuple(_made(item, file, lookup, depth) for item in made.items))
    kinds = [_called(lookup.reference(by, file), lookup, depth - 1) for by in made.by]
    return join(kinds) if kinds and all(kind.known for kind in kinds) else UNKNOWN


def _called(target: Target | None, lookup: Lookup, depth: int) -> Kind:
    """The kind of what calling something gives: of a module, an optimizer, a schedule, a loader; of others nothing is said."""
    if depth <= 0:
        return UNKNOWN
    match target:
        case ClassElsewhere() if _is_module(target, lookup):
            return instance_of(target)
        case FunctionElsewhere():
            return _given(target, lookup, depth)
        case Outside(name=name):
            for names, kind in _OF_TORCH:
                if name in names:
                    return Kind(kind, name=name, why=f"made by `{name}`")
            if name.startswith("torchvision.models."):
                return Kind(Type.MODULE, name=name, why=f"`{name}` makes a module")
    return UNKNOWN


_OF_TORCH = (
    (torch_api.MODULES - torch_api.CONTAINER_MODULES, Type.MODULE),
    (torch_api.OPTIMIZERS, Type.OPTIMIZER),
    (torch_api.SCHEDULERS, Type.SCHEDULER),
    (frozenset({"torch.utils.data.DataLoader"}), Type.LOADER),
)


def _is_module(found: ClassElsewhere, lookup: Lookup) -> bool:
    """Whether instances of a class are modules that are called and switched as torch's are."""
    return lookup.is_module(found) and lookup.is_plain(found)


# --- what calls in other files hand to parameters ------------------------------------------------------------------------


def handed_kind(parameter: Parameter, elsewhere: Elsewhere) -> Kind:
    """The kind of what calls in other files give for a parameter, where all of which that is known agree."""
    if elsewhere.callers is None:
        return UNKNOWN
    kind = _handed(parameter, elsewhere.file, elsewhere.callers, _HANDED_ON)
    elsewhere.has_said = elsewhere.has_said or kind.known
    return kind


def _handed(parameter: Parameter, file: str, callers: Callers, depth: int) -> Kind:
    if depth <= 0:
        return UNKNOWN
    kinds = [_kind_of_all(given.made, given.file, callers, depth) for given in callers.given(parameter, file)]
    known = [kind for kind in kinds if kind.type in _TELLING]
    if not known or len({kind.type for kind in known}) > 1:
        return UNKNOWN
    found = replace(join(known), basis=Basis.ELSEWHERE)
    if found.type is Type.MODULE and len(known) < len(kinds):
        return replace(found, name="", elsewhere=None)  # another caller may give another one
    return found


def _kind_of_all(made: Made, file: str, callers: Callers, depth: int) -> Kind:
    kinds = [_made_by(by, file, callers, depth) for by in made.by]
    return join(kinds) if kinds and all(kind.known for kind in kinds) else UNKNOWN


def _made_by(by: str, file: str, callers: Callers, depth: int) -> Kind:
    if by.startswith(PARAMETER):
        return _handed(Parameter.of(by), file, callers, depth - 1)
    reference, _, index = by.partition("[")
    kind = _made(Made((reference,)), file, callers.lookup, _DEEPEST)
    return item_of(kind, int(index.removesuffix("]"))) if index.removesuffix("]").isdigit() else kind if not index else UNKNOWN
