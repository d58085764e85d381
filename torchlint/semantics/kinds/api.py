"""The kinds of what imports give: of torch and other libraries, and of the project's other files."""

from __future__ import annotations

import ast
from collections.abc import Container
from dataclasses import replace

from torchlint.semantics import torch_api
from torchlint.semantics.code.scopes import Form
from torchlint.semantics.code.tree import FUNCTIONS, chosen_from
from torchlint.semantics.kinds.annotations import instance
from torchlint.semantics.kinds.kind import (
    ARRAY,
    NUMBER,
    STRING,
    UNKNOWN,
    Basis,
    Grad,
    Kind,
    Type,
    item_of,
    join,
    record,
    sequence,
    tensor,
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
from torchlint.semantics.summaries.summary import MADE_BY, Given, Made

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
    if not kind.known:
        kind = _told(elsewhere.lookup.given(found), found.file, found.name, elsewhere.lookup)
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


def _is_module(found: ClassElsewhere, lookup: Lookup) -> bool:
    """Whether instances of a class are modules that are called and switched as torch's are."""
    return lookup.is_module(found) and lookup.is_plain(found)


def member_of(found: ClassElsewhere, name: str, kinds: Kinds, own: Container[str] = ()) -> Kind:
    """What a method ``name()`` of another file's class gives, or an attribute of instances holds, as far as its file tells.

    Methods called as ``own`` ones are those of a class that derives from it. What the file stores there itself is not known.
    """
    definitions = kinds.code.definitions
    if name.startswith("__") or name.removesuffix("()") in definitions.stored_attributes:
        return UNKNOWN
    told = kinds.elsewhere.lookup.given_by(found, name, own)
    kind = _told(told[1], told[0], f"{found.name}.{name}", kinds.elsewhere.lookup) if told is not None else UNKNOWN
    kinds.elsewhere.has_said = kinds.elsewhere.has_said or kind.known
    return kind


def output_of(found: ClassElsewhere, elsewhere: Elsewhere) -> Kind:
    """What calling an instance of another file's module gives."""
    told = elsewhere.lookup.given_by(found, "forward()") if _is_module(found, elsewhere.lookup) else None
    kind = _told(told[1], told[0], found.name, elsewhere.lookup) if told is not None else UNKNOWN
    elsewhere.has_said = elsewhere.has_said or kind.known
    return kind


_ALIKE = {Type.NUMBER.value: NUMBER, Type.STRING.value: STRING, Type.ARRAY.value: ARRAY}


def _told(given: Given, file: str, name: str, lookup: Lookup) -> Kind:
    """The kind of what another file tells of."""
    match given.type:
        case Type.TENSOR.value:
            return tensor(Grad(given.grad), given.scalar, why=f"what `{name}` gives", basis=Basis.ELSEWHERE)
        case Type.MODULE.value if given.name.startswith("torch."):
            return Kind(Type.MODULE, name=given.name, why=f"made by `{given.name}`")
        case Type.MODULE.value:
            target = lookup.reference(given.name, file)
            return instance_of(target) if isinstance(target, ClassElsewhere) and _is_module(target, lookup) else UNKNOWN
        case Type.SEQUENCE.value:
            return sequence(items=tuple(_told(each, file, name, lookup) for each in given.items))
        case Type.MAPPING.value:
            return record({key: _told(each, file, name, lookup) for key, each in given.entries})
    return _ALIKE.get(given.type, UNKNOWN)


# --- what methods of base classes give ----------------------------------------------------------------------------------


def inherited(owner: ast.ClassDef, method: str, kinds: Kinds) -> Kind:
    """What calling a method on an instance of a class gives, where the file does not define it and a known base does.

    Tensors only, and tuples of some: a method that makes anything else is unknown, as is one behind a base that is.
    """
    elsewhere, definitions = kinds.elsewhere, kinds.code.definitions
    if not elsewhere.is_in_project or definitions.method(owner, method) is not None:
        return UNKNOWN
    if any(slot.stores for slot in definitions.slots(owner, method)):
        return UNKNOWN
    for definition in definitions.bases(owner):
        for base in definition.bases:
            if definitions.definition(base) is not None:
                continue
            found = elsewhere.target(base)
            if not isinstance(found, ClassElsewhere):
                return UNKNOWN
            kind = _given_by_method(found, method, elsewhere.lookup)
            if kind is not None and not kind.known:
                own = {each for base in definitions.bases(owner) for each in definitions.classes[base].methods}
                kind = member_of(found, f"{method}()", kinds, own)
            if kind is not None:
                elsewhere.has_said = elsewhere.has_said or kind.known
                return kind
    return UNKNOWN


def inherited_attribute(owner: ast.ClassDef, name: str, kinds: Kinds) -> Kind:
    """What an attribute of instances of a class of the file holds, where only a base in another file stores to it.

    Where the base keeps what a method gives that is to be overridden, it is what the method of the file gives.
    """
    elsewhere, definitions = kinds.elsewhere, kinds.code.definitions
    if not elsewhere.is_in_project or name.startswith("__") or name in definitions.stored_attributes:
        return UNKNOWN
    if any(slot.stores or slot.class_values for slot in definitions.slots(owner, name)):
        return UNKNOWN
    own = {each for base in definitions.bases(owner) for each in definitions.classes[base].methods}
    for definition in definitions.bases(owner):
        for base in definition.bases:
            found = elsewhere.target(base) if definitions.definition(base) is None else None
            told = elsewhere.lookup.given_by(found, name, own) if isinstance(found, ClassElsewhere) else None
            if told is None:
                continue
            kind = _told(told[1], told[0], f"{owner.name}.{name}", elsewhere.lookup)
            method = definitions.method(owner, told[1].name) if told[1].type == MADE_BY else None
            if method is not None and not method.decorator_list:
                kind = kinds.returned(method)
            elsewhere.has_said = elsewhere.has_said or kind.known
            return kind
    return UNKNOWN


def _given_by_method(found: ClassElsewhere, method: str, lookup: Lookup) -> Kind | None:
    """What a method of another file's class gives; `None` where neither it nor any of its bases has it."""
    for base in lookup.bases(found):
        if isinstance(base, ClassElsewhere):
            if method in base.summary.methods:
                return _tensors(dict(base.summary.tensors).get(method), base.file, lookup)
        elif base is None:
            return UNKNOWN
    return None


def _tensors(made: Made | None, file: str, lookup: Lookup) -> Kind:
    if made is None:
        return UNKNOWN
    if made.items:
        return sequence(items=tuple(_tensors(item, file, lookup) for item in made.items))
    kinds = [_by_torch(reference, file, lookup) for reference in made.by]
    return join(kinds) if kinds and all(kind.known for kind in kinds) else UNKNOWN


def _by_torch(reference: str, file: str, lookup: Lookup) -> Kind:
    target = lookup.reference(reference, file)
    if isinstance(target, Outside) and torch_api.FUNCTIONS.get(target.name) == "tensor":
        return tensor(why=f"the result of `{target.name}`", basis=Basis.ELSEWHERE)
    return UNKNOWN


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
    kinds = [_called(target, lookup, _DEEPEST_CHOICE) for target in choice.targets]
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
    known = [kind for kind in kinds if kind.type in _TELLING]
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
