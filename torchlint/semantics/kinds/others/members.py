"""What the functions, methods and attributes of other files give where this one asks for them."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlint.semantics import torch_api
from torchlint.semantics.kinds.kind import UNKNOWN, Basis, Grad, Kind, Type, join, sequence, tensor
from torchlint.semantics.kinds.others.told import Teller, completed, function_kind, member_kind, output_kind
from torchlint.semantics.kinds.questions import Kinds
from torchlint.semantics.summaries.elsewhere import Elsewhere
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Lookup, Outside
from torchlint.semantics.summaries.summary import Given, Made, Open


def given_by(found: FunctionElsewhere, call: ast.Call, kinds: Kinds) -> Kind:
    """What calling a function of another file gives."""
    elsewhere = kinds.elsewhere
    kind = function_kind(found, elsewhere.lookup)
    if not found.summary.hidden and not (kind.known and all(each.known for each in kind.items or ())):
        handed = _handed_back(elsewhere.lookup.given(found), found, call, kinds)
        kind = completed(kind, handed)
    elsewhere.has_said = elsewhere.has_said or kind.known
    return kind


def _handed_back(given: Given, found: FunctionElsewhere, call: ast.Call, kinds: Kinds) -> Kind:
    """What a function gives that hands on what it is given, moved: tensors and modules, or several of them."""
    if given.type == Type.SEQUENCE.value:
        parts = tuple(_handed_back(each, found, call, kinds) for each in given.items)
        return sequence(items=parts) if any(each.known for each in parts) else UNKNOWN
    if given.type != Open.ARGUMENT.value or any(isinstance(each, ast.Starred) for each in call.args):
        return UNKNOWN
    places = {name: value for name, value in zip(found.summary.positional, call.args)}
    places.update({word.arg: word.value for word in call.keywords if word.arg is not None})
    kind = kinds.kind(places[given.name]) if given.name in places else UNKNOWN
    if kind.is_tensor:
        return replace(kind, grad=Grad.UNKNOWN if kind.grad is Grad.LEAF else kind.grad)
    return kind if kind.type is Type.MODULE else UNKNOWN


def member_of(found: ClassElsewhere, name: str, kinds: Kinds, own: frozenset[str] = frozenset()) -> Kind:
    """What a method ``name()`` of another file's class gives, or an attribute of instances holds, as far as its file tells.

    Methods called as ``own`` ones are those of a class that derives from it. What the file stores there itself is not known.
    """
    definitions = kinds.code.definitions
    if name.startswith("__") or name.removesuffix("()") in definitions.stored_attributes:
        return UNKNOWN
    kind = member_kind(found, name, kinds.elsewhere.lookup, own)
    kinds.elsewhere.has_said = kinds.elsewhere.has_said or kind.known
    return kind


def output_of(found: ClassElsewhere, elsewhere: Elsewhere) -> Kind:
    """What calling an instance of another file's module gives."""
    kind = output_kind(found, elsewhere.lookup)
    elsewhere.has_said = elsewhere.has_said or kind.known
    return kind


def takes_no_graph(found: ClassElsewhere, elsewhere: Elsewhere) -> bool:
    """Whether another file's module takes no graph of the first thing that it is given, and has no parameters of its own."""
    bases = elsewhere.lookup.bases(found)
    return all(isinstance(base, Outside) or base == found for base in bases) and elsewhere.lookup.body(found).cuts


# --- what classes of the file have from bases in other ones ------------------------------------------------------------


def inherited(owner: ast.ClassDef, method: str, kinds: Kinds) -> Kind:
    """What calling a method on an instance of a class gives, where the file does not define it and a known base does."""
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
            if kind is not None and not kind.known and not (method.startswith("__") or method in definitions.stored_attributes):
                kind = _inherited(owner, found, f"{method}()", kinds)
            if kind is not None:
                elsewhere.has_said = elsewhere.has_said or kind.known
                return kind
    return UNKNOWN


def inherited_attribute(owner: ast.ClassDef, name: str, kinds: Kinds) -> Kind:
    """What an attribute of instances of a class of the file holds, where only a base in another file stores to it."""
    elsewhere, definitions = kinds.elsewhere, kinds.code.definitions
    if not elsewhere.is_in_project or name.startswith("__") or name in definitions.stored_attributes:
        return UNKNOWN
    if any(slot.stores or slot.class_values for slot in definitions.slots(owner, name)):
        return UNKNOWN
    for definition in definitions.bases(owner):
        for base in definition.bases:
            found = elsewhere.target(base) if definitions.definition(base) is None else None
            kind = _inherited(owner, found, name, kinds) if isinstance(found, ClassElsewhere) else None
            if kind is not None:
                elsewhere.has_said = elsewhere.has_said or kind.known
                return kind
    return UNKNOWN


def _inherited(owner: ast.ClassDef, found: ClassElsewhere, name: str, kinds: Kinds) -> Kind | None:
    """What a member is that a class has from a base in another file, with what the class itself overrides."""
    definitions, lookup = kinds.code.definitions, kinds.elsewhere.lookup
    own = frozenset(each for base in definitions.bases(owner) for each in definitions.classes[base].methods)

    def of_instance(member: str, depth: int) -> Kind:
        called = member.removesuffix("()")
        if (method := definitions.method(owner, called)) is not None:
            return kinds.returned(method) if called != member and not method.decorator_list else UNKNOWN
        if called in definitions.stored_attributes:
            return UNKNOWN
        return member_kind(found, member, lookup, own, depth)

    told = lookup.given_by(found, name, own)
    return Teller(lookup, told[0], f"{owner.name}.{name}", of_instance).kind(told[1]) if told is not None else None


def _given_by_method(found: ClassElsewhere, method: str, lookup: Lookup) -> Kind | None:
    """What a method of another file's class gives; `None` where neither it nor any of its bases has it."""
    for base in lookup.bases(found):
        if isinstance(base, ClassElsewhere):
            if method in base.summary.methods:
                return _tensors(dict(lookup.body(base).tensors).get(method), base.file, lookup)
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
