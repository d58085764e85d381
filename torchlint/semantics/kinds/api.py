"""The kinds of what imports give: of torch and other libraries, and of the project's other files."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlint.semantics import torch_api
from torchlint.semantics.code.scopes import Form
from torchlint.semantics.code.tree import FUNCTIONS, chosen_from
from torchlint.semantics.kinds.annotations import instance
from torchlint.semantics.kinds.kind import (
    NUMBER,
    UNKNOWN,
    Basis,
    Kind,
    Type,
    item_of,
    join,
    sequence,
)
from torchlint.semantics.kinds.questions import Kinds
from torchlint.semantics.summaries.callers import Callers
from torchlint.semantics.summaries.calls import PARAMETER, Parameter
from torchlint.semantics.summaries.elsewhere import Elsewhere
from torchlint.semantics.summaries.lookup import (
    ClassElsewhere,
    FunctionElsewhere,
    Lookup,
    OneOf,
    Outside,
    Target,
    ValueElsewhere,
)
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
_DEEPEST_CHOICE = 4
"""So many functions are followed to what each of many things gives that can be chosen from."""
TELLING = frozenset({Type.MODULE, Type.OPTIMIZER, Type.SCHEDULER, Type.LOADER})
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
        case ClassElsewhere() if is_module(target, elsewhere.lookup):
            return Kind(Type.CLASS, name=target.name, elsewhere=target)
        case ValueElsewhere(file=file, made=made):
            return _made(made, file, elsewhere.lookup, _DEEPEST)
    return UNKNOWN


def instance_of(found: ClassElsewhere) -> Kind:
    """What calling a class of another file's modules gives."""
    return Kind(Type.MODULE, name=found.name, elsewhere=found, why=f"made by `{found.name}`", basis=Basis.ELSEWHERE)


def made_by(found: FunctionElsewhere, lookup: Lookup, depth: int) -> Kind:
    return UNKNOWN if found.summary.hidden else _made(found.summary.gives, found.file, lookup, depth)


def _made(made: Made, file: str, lookup: Lookup, depth: int) -> Kind:
    """The kind of a value that is made in another file."""
    if made.items:
        return sequence(items=tuple(_made(item, file, lookup, depth) for item in made.items))
    kinds = [called(lookup.reference(by, file), lookup, depth - 1) for by in made.by]
    return join(kinds) if kinds and all(kind.known for kind in kinds) else UNKNOWN


def called(target: Target | None, lookup: Lookup, depth: int) -> Kind:
    """The kind of what calling something gives: of a module, an optimizer, a schedule, a loader; of others nothing is said."""
    if depth <= 0:
        return UNKNOWN
    match target:
        case ClassElsewhere() if is_module(target, lookup):
            return instance_of(target)
        case FunctionElsewhere():
            return made_by(target, lookup, depth)
        case OneOf():
            return _one_of(target, lookup, depth)
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


def is_module(found: ClassElsewhere, lookup: Lookup) -> bool:
    """Whether instances of a class are modules that are called and switched as torch's are."""
    return lookup.is_module(found) and lookup.is_plain(found)


# --- what is made by its name -------------------------------------------------------------------------------------------


def chosen_module(call: ast.Call, kinds: Kinds) -> Kind:
    """The kind of what ``MODELS[name](…)`` and ``getattr(models, name)(…)`` make: a module, if what can be chosen makes one.

    Which one, only the running program knows.
    """
    source = chosen_from(call.func)
    if source is None:
        return UNKNOWN
    name = kinds.code.names.qualified(source) or ""
    if name.startswith("torchvision.models"):
        return Kind(Type.MODULE, why="one of torchvision's models is made")
    if isinstance(call.func, ast.Subscript) and isinstance(source, ast.Name):
        bindings = kinds.code.bindings.reaching(source)
        if len(bindings) == 1 and bindings[0].form is Form.ASSIGNMENT and isinstance(bindings[0].value, ast.Dict):
            return _one_entry(bindings[0].value, kinds)
    return chosen(kinds.elsewhere.target(source), kinds.elsewhere)


def _one_entry(entries: ast.Dict, kinds: Kinds) -> Kind:
    """What calling one of the values of a dict gives, where all make modules."""
    found = [_made_by_entry(kinds.kind(value), kinds) for value in entries.values]
    if not found or any(kind.type is not Type.MODULE for kind in found):
        return UNKNOWN
    return replace(join(found), why=f"made by one of the {len(found)} entries of a dict")


def _made_by_entry(kind: Kind, kinds: Kinds) -> Kind:
    if kind.type is Type.CLASS and isinstance(kind.definition, ast.ClassDef):
        return instance(kind.definition, kinds.code)
    if kind.type is Type.CLASS and kind.elsewhere is not None:
        return instance_of(kind.elsewhere)
    if kind.type is Type.CLASS and kind.name in torch_api.MODULES:
        return Kind(Type.MODULE, name=kind.name)
    if kind.type is Type.FUNCTION and isinstance(kind.definition, FUNCTIONS) and not kind.definition.decorator_list:
        return kinds.returned(kind.definition)
    return UNKNOWN


def chosen(source: Target | None, elsewhere: Elsewhere) -> Kind:
    """What calling one of the things of a module or a dict of another file gives, by a name that only the run knows."""
    found = elsewhere.lookup.any_of(source) if source is not None else None
    kind = _one_of(found, elsewhere.lookup, _DEEPEST) if found is not None else UNKNOWN
    elsewhere.has_said = elsewhere.has_said or kind.known
    return kind


def _one_of(choice: OneOf, lookup: Lookup, depth: int) -> Kind:
    """A module, where two of three of the things that can be chosen make one, and none is known to make something else."""
    if depth <= _DEEPEST_CHOICE:
        return UNKNOWN  # a choice of what chooses itself, each of many
    kinds = [called(target, lookup, _DEEPEST_CHOICE) for target in choice.targets]
    known = [kind for kind in kinds if kind.known]
    if not known or any(kind.type is not Type.MODULE for kind in known) or len(known) * 3 < len(kinds) * 2:
        return UNKNOWN
    why = f"made by {'one of several modules' if len(known) > 1 else 'a module'} of another file"
    found = join(known)
    return replace(found, why=why, basis=Basis.ELSEWHERE, choices=found.choices if len(known) == len(kinds) else ())


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
    known = [kind for kind in kinds if kind.type in TELLING]
    if not known or len({kind.type for kind in known}) > 1:
        return UNKNOWN
    found = replace(join(known), basis=Basis.ELSEWHERE)
    if found.type is Type.MODULE and len(known) < len(kinds):
        return replace(found, name="", elsewhere=None, choices=())  # another caller may give another one
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
