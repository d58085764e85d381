"""What is known of a value by the file of the project that it is from, and by those that this one leaves something open to."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from torchlint.semantics import torch_api
from torchlint.semantics.kinds.api import called, instance_of, is_module, made_by
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
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Lookup, OneOf, Outside, Target
from torchlint.semantics.summaries.summary import Given, Open

_DEEPEST = 6
"""So many files may leave something open to one another."""
_NOTHING = frozenset[str]()
_ALIKE = {Type.NUMBER.value: NUMBER, Type.STRING.value: STRING, Type.ARRAY.value: ARRAY}
_NEVER = Kind(why="an error is raised")
_OPEN = {each.value: each for each in Open}
_Own = Callable[[str, int], Kind]
"""Tells what a method ``name()`` or an attribute of the instance is that a method runs on."""


def function_kind(found: FunctionElsewhere, lookup: Lookup, depth: int = _DEEPEST) -> Kind:
    """What calling a function of another file gives."""
    key = (found.file, found.name, depth, _NOTHING)
    if key not in lookup.told:
        lookup.told[key] = _function_kind(found, lookup, depth)
    known: Kind = lookup.told[key]
    return known


def _function_kind(found: FunctionElsewhere, lookup: Lookup, depth: int) -> Kind:
    kind = made_by(found, lookup, depth)
    if depth <= 0 or (kind.known and all(each.known for each in kind.items or ())):
        return kind
    told = Teller(lookup, found.file, found.name).kind(lookup.given(found), depth)
    return completed(kind, told)


def completed(kind: Kind, other: Kind) -> Kind:
    """A kind, and where it is not known, of a tuple in parts, another one."""
    if kind.items is None or other.items is None or len(kind.items) != len(other.items):
        return kind if kind.known else other
    return sequence(items=tuple(one if one.known else more for one, more in zip(kind.items, other.items)))


def member_kind(
    found: ClassElsewhere, name: str, lookup: Lookup, own: frozenset[str] = _NOTHING, depth: int = _DEEPEST
) -> Kind:
    """What a method ``name()`` of another file's class gives, or an attribute of instances holds; ``own`` are overridden."""
    key = (found.file, f"{found.name}.{name}", depth, own)
    if depth <= 0:
        return UNKNOWN
    if key not in lookup.told:
        lookup.told[key] = _member_kind(found, name, lookup, own, depth)
    known: Kind = lookup.told[key]
    return known


def _member_kind(found: ClassElsewhere, name: str, lookup: Lookup, own: frozenset[str], depth: int) -> Kind:
    def of_instance(member: str, depth: int) -> Kind:
        return member_kind(found, member, lookup, own, depth)

    told = lookup.given_by(found, name, own)
    return Teller(lookup, told[0], f"{found.name}.{name}", of_instance).kind(told[1], depth) if told is not None else UNKNOWN


def output_kind(found: ClassElsewhere, lookup: Lookup, depth: int = _DEEPEST) -> Kind:
    """What calling an instance of another file's module gives."""
    return member_kind(found, "forward()", lookup, depth=depth) if is_module(found, lookup) else UNKNOWN


@dataclass(frozen=True, slots=True)
class Teller:
    """Finds the kinds of what a ``file`` says that something of a ``name`` in it gives."""

    lookup: Lookup
    file: str
    name: str
    own: _Own = lambda member, depth: UNKNOWN

    def kind(self, given: Given, depth: int = _DEEPEST) -> Kind:
        """The kind of what the file tells of, or leaves open."""
        if given.type in _OPEN:
            return self._open(_OPEN[given.type], given, depth)
        match given.type:
            case Type.TENSOR.value:
                return tensor(Grad(given.grad), given.scalar, why=f"what `{self.name}` gives", basis=Basis.ELSEWHERE)
            case Type.MODULE.value if given.name.startswith("torch."):
                return Kind(Type.MODULE, name=given.name, why=f"made by `{given.name}`")
            case Type.MODULE.value if not given.name:
                return Kind(Type.MODULE, why=f"what `{self.name}` is declared to give", basis=Basis.ELSEWHERE)
            case Type.MODULE.value:
                target = self.lookup.reference(given.name, self.file)
                return _instance(target, self.lookup)
            case Type.SEQUENCE.value:
                return sequence(items=tuple(self.kind(each, depth) for each in given.items))
            case Type.MAPPING.value:
                return record({key: self.kind(each, depth) for key, each in given.entries})
        return _ALIKE.get(given.type, UNKNOWN)

    def _open(self, what: Open, given: Given, depth: int) -> Kind:
        match what, given.items:
            case Open.NEVER, _:
                return _NEVER
            case Open.ONE_OF, parts:
                return _one_of([self.kind(each, depth) for each in parts])
            case Open.METHOD, ():
                return self.own(f"{given.name}()", depth - 1)
            case Open.ATTRIBUTE, ():
                return self.own(given.name, depth - 1)
            case Open.NAME, _:
                return self._named(self.lookup.reference(given.name, self.file))
            case Open.INHERITED, _:
                return self._inherited(given.name, depth)
            case Open.CALL, (Given(type=Open.NAME.value, name=name),):
                return self._called(self.lookup.reference(name, self.file), depth)
            case Open.CALL, (callee,):
                return self._run(self.kind(callee, depth), depth)
            case Open.METHOD | Open.ATTRIBUTE, (owner,):
                return self._member(self.kind(owner, depth), given.name, depth, is_called=what is Open.METHOD)
            case Open.PART, (whole,):
                return _part(self.kind(whole, depth), given.name)
        return UNKNOWN

    def _named(self, target: Target | None) -> Kind:
        if isinstance(target, ClassElsewhere) and is_module(target, self.lookup):
            return Kind(Type.CLASS, name=target.name, elsewhere=target)
        return UNKNOWN

    def _called(self, target: Target | None, depth: int) -> Kind:
        match target:
            case FunctionElsewhere():
                return function_kind(target, self.lookup, depth - 1)
            case ClassElsewhere():
                return _instance(target, self.lookup)
            case Outside(name=name) if torch_api.FUNCTIONS.get(name) == "tensor":
                return tensor(why=f"the result of `{name}`", basis=Basis.ELSEWHERE)
            case Outside() | OneOf():
                return called(target, self.lookup, depth)
        return UNKNOWN

    def _run(self, kind: Kind, depth: int) -> Kind:
        """What calling a value gives: a class, or a module."""
        if kind.type is Type.CLASS and kind.choices:
            return Kind(Type.MODULE, choices=kind.choices, why="made by one of several classes", basis=Basis.ELSEWHERE)
        if kind.elsewhere is None or kind.type not in (Type.CLASS, Type.MODULE):
            return UNKNOWN
        return instance_of(kind.elsewhere) if kind.type is Type.CLASS else output_kind(kind.elsewhere, self.lookup, depth - 1)

    def _member(self, owner: Kind, name: str, depth: int, *, is_called: bool) -> Kind:
        if owner.elsewhere is not None and owner.type in (Type.MODULE, Type.UNKNOWN):
            return member_kind(owner.elsewhere, f"{name}()" if is_called else name, self.lookup, depth=depth - 1)
        if owner.is_tensor and is_called and torch_api.TENSOR_METHODS.get(name) == "tensor":
            return tensor(why=f"the result of `{name}`", basis=Basis.ELSEWHERE)
        return UNKNOWN

    def _inherited(self, name: str, depth: int) -> Kind:
        """What a method gives that a class has from its bases."""
        owner, _, method = name.rpartition(".")
        found = self.lookup.reference(owner, self.file)
        told = (
            self.lookup.given_by(found, f"{method}()", above=True) if isinstance(found, ClassElsewhere) and depth > 0 else None
        )
        return Teller(self.lookup, told[0], self.name, self.own).kind(told[1], depth - 1) if told is not None else UNKNOWN


def _instance(target: Target | None, lookup: Lookup) -> Kind:
    if not isinstance(target, ClassElsewhere):
        return UNKNOWN
    return instance_of(target) if is_module(target, lookup) else Kind(elsewhere=target)


def _one_of(kinds: list[Kind]) -> Kind:
    """What one of several is, if all are known to be alike, but for those that are never there."""
    given = [kind for kind in kinds if kind is not _NEVER]
    is_told = bool(given) and all(kind.known for kind in given) and len({kind.type for kind in given}) == 1
    return join(given) if is_told else UNKNOWN


def _part(kind: Kind, key: str) -> Kind:
    found = ast.literal_eval(key)
    if isinstance(found, int):
        return item_of(kind, found) if kind.items is not None else UNKNOWN
    return dict(kind.entries).get(found, UNKNOWN)
