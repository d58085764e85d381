"""What an expression evaluates to, as far as the code tells: a `Kind`, and how two of them join."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias

from torchlint.semantics.summaries.lookup import ClassElsewhere

Definition: TypeAlias = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Type(Enum):
    """What sort of thing a value is."""

    UNKNOWN = "unknown"
    TENSOR = "tensor"
    PACKED = "packed sequence"
    MODULE = "module"
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    LOADER = "data loader"
    ARRAY = "array"
    NUMBER = "number"
    STRING = "string"
    NONE = "None"
    SEQUENCE = "sequence"  # also sets, iterators and generators
    MAPPING = "mapping"
    CLASS = "class"
    FUNCTION = "function"
    INSTANCE = "instance"  # of a class that is none of the above


class Grad(Enum):
    """What a tensor has to do with the autograd graph."""

    UNKNOWN = "unknown"
    GRAPH = "carries graph"
    LEAF = "leaf that requires grad"
    NONE = "no grad"


class Basis(Enum):
    """What the knowledge of a kind rests on, as far as that matters to anybody."""

    MADE = "what makes the value, or hands it on"
    DECLARED = "an annotation"
    READ = "an attribute that is read of it"
    CALLED = "a method that is called on it"
    PROPAGATED = "that it is back-propagated"
    BATCH = "that a data loader gives it"
    PARAMETER = "that it is made a parameter"
    ELSEWHERE = "what another file of the project says of its class"
    OPTIMIZED = "that it stands where an optimizer has its parameters"


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a value.

    ``grad``, ``scalar`` (has no dimensions) and ``loose`` (a tensor, or a nest of such tensors) are of tensors; ``element``
    and ``items`` of containers, ``entries`` of a dict with written-out keys; ``name`` is the dotted name of a class or
    function, or of the class that an instance is of; ``definition`` is the one in the file, ``elsewhere`` the class of another
    file of the project, ``choices`` those of which it is one; ``depth`` is how deep containers nest. ``why`` says in words
    where the knowledge is from, for people; ``basis`` says it for other questions, and ``used`` is the name of the attribute
    or method that says so, if one does.
    """

    type: Type = Type.UNKNOWN
    grad: Grad = Grad.UNKNOWN
    scalar: bool | None = None
    loose: bool = False
    name: str = ""
    element: Kind | None = None
    items: tuple[Kind, ...] | None = None
    entries: tuple[tuple[str, Kind], ...] = ()
    definition: Definition | None = None
    elsewhere: ClassElsewhere | None = None
    choices: tuple[ClassElsewhere, ...] = field(default=(), compare=False)
    depth: int = field(default=0, compare=False)
    why: str = field(default="", compare=False)
    basis: Basis = field(default=Basis.MADE, compare=False)
    used: str = field(default="", compare=False)

    @property
    def known(self) -> bool:
        """Whether anything is known."""
        return self.type is not Type.UNKNOWN

    @property
    def is_tensor(self) -> bool:
        """Whether the value is a tensor."""
        return self.type is Type.TENSOR

    @property
    def parts(self) -> tuple[Kind, ...]:
        """The kinds of what a container holds, as far as they are known: one for all, or each by itself."""
        if self.items is not None:
            return self.items
        return (self.element,) if self.element is not None else ()

    @property
    def classes_elsewhere(self) -> tuple[ClassElsewhere, ...]:
        """The classes of other files that it may be an instance of, where these are all."""
        return (self.elsewhere,) if self.elsewhere is not None else self.choices

    @property
    def carries_graph(self) -> bool:
        """Whether the value is a tensor that an operation on something that requires grad produced."""
        return self.is_tensor and self.grad is Grad.GRAPH

    def because(self, reason: Kind) -> Kind:
        """The same kind, known for the reason that another is known for."""
        return replace(self, why=reason.why, basis=reason.basis, used=reason.used)


_DEPTH = 6
"""How deep containers nest in what is known of a value."""

_MOST_CHOICES = 40
"""Of so many classes a value may be at most for all of them to be looked at."""

UNKNOWN = Kind()
NUMBER = Kind(Type.NUMBER)
STRING = Kind(Type.STRING)
NONE = Kind(Type.NONE)
ARRAY = Kind(Type.ARRAY)
BATCH = Kind(Type.TENSOR, Grad.NONE, loose=True, why="an item of a data loader", basis=Basis.BATCH)
OPTIMIZED = Kind(Type.TENSOR, Grad.LEAF, why="a parameter of an optimizer", basis=Basis.OPTIMIZED)


def tensor(
    grad: Grad = Grad.UNKNOWN,
    scalar: bool | None = None,
    *,
    loose: bool = False,
    why: str = "",
    basis: Basis = Basis.MADE,
    used: str = "",
) -> Kind:
    """The kind of a tensor."""
    return Kind(Type.TENSOR, grad, scalar, loose, why=why, basis=basis, used=used)


def sequence(element: Kind = UNKNOWN, items: tuple[Kind, ...] | None = None, why: str = "") -> Kind:
    """The kind of a list, tuple, set or iterator: of like elements, or of known items."""
    if items is not None:
        items = tuple(_bounded(item) for item in items)
        element = join(items)
    depth = 1 + max((item.depth for item in items or ()), default=0)
    element = _bounded(element)
    return Kind(Type.SEQUENCE, element=element, items=items, depth=max(depth, element.depth + 1), why=why)


def mapping(element: Kind = UNKNOWN, why: str = "") -> Kind:
    """The kind of a dict whose values are of kind ``element``."""
    element = _bounded(element)
    return Kind(Type.MAPPING, element=element, depth=element.depth + 1, why=why)


def record(entries: dict[str, Kind]) -> Kind:
    """The kind of a dict with written-out keys; of a value under an unknown key only what is true of all is known."""
    kinds = list(entries.values())
    alike = all(kind.known and kind.type is kinds[0].type and kind.grad is kinds[0].grad for kind in kinds)
    found = mapping(join(kinds) if alike else UNKNOWN)
    bounded = tuple((key, _bounded(kind)) for key, kind in entries.items())
    return replace(found, entries=bounded, depth=1 + max((kind.depth for _, kind in bounded), default=0))


def _bounded(kind: Kind) -> Kind:
    """A kind to put into another: nothing is known of what is nested too deeply, as in ``x = (x, y)`` time and again."""
    return kind if kind.depth < _DEPTH else UNKNOWN


def join(kinds: Iterable[Kind]) -> Kind:
    """What is known of a value that is one of several: ``None`` and unknown ones do not weaken that it is a tensor."""
    given = list(kinds)
    if len(given) == 1:
        return given[0]
    every = list(dict.fromkeys(given))
    some = [kind for kind in every if kind.type not in (Type.UNKNOWN, Type.NONE)]
    if not some:
        return NONE if every and all(kind.type is Type.NONE for kind in every) else UNKNOWN
    certain = all(kind.known for kind in every)
    types = {kind.type for kind in some}
    if types == {Type.TENSOR, Type.NUMBER}:
        some = [kind for kind in some if kind.is_tensor]
    elif len(types) > 1:
        return UNKNOWN
    joined = some[0]
    for other in some[1:]:
        joined = _join_two(joined, other)
    if not certain and joined.choices:
        joined = replace(joined, choices=())
    if not certain and joined.is_tensor and all(kind.basis is Basis.ELSEWHERE for kind in some):
        return UNKNOWN  # what another file says of one value is nothing that this one knows of the others
    if not certain and joined.is_tensor:
        grad = joined.grad if joined.grad is Grad.GRAPH else Grad.UNKNOWN
        joined = replace(joined, grad=grad, scalar=joined.scalar or None)
    return joined


def _join_two(one: Kind, other: Kind) -> Kind:
    items = None
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        items = tuple(join(pair) for pair in zip(one.items, other.items))
    entries: tuple[tuple[str, Kind], ...] = ()
    if one.entries and other.entries:
        first, second = dict(one.entries), dict(other.entries)
        given = {key: [each[key] for each in (first, second) if key in each] for key in (*first, *second)}
        entries = tuple((key, join(kinds)) for key, kinds in given.items())
    elements = [kind for kind in (one.element, other.element) if kind is not None]
    classes = dict.fromkeys((*one.classes_elsewhere, *other.classes_elsewhere))
    is_choice = bool(one.classes_elsewhere and other.classes_elsewhere) and len(classes) <= _MOST_CHOICES
    return Kind(
        one.type,
        join_grads(one.grad, other.grad),
        one.scalar if one.scalar == other.scalar else None,
        one.loose or other.loose,
        name=one.name if one.name == other.name else "",
        element=join(elements) if elements else None,
        items=items,
        entries=entries,
        definition=one.definition if one.definition is other.definition else None,
        elsewhere=one.elsewhere if one.elsewhere == other.elsewhere else None,
        choices=tuple(classes) if is_choice else (),
        depth=max(one.depth, other.depth),
    ).because(one if one.why and one.basis is not Basis.ELSEWHERE else other)


def join_grads(one: Grad, other: Grad) -> Grad:
    """The grad status of a value that has one status or the other."""
    if one is other:
        return one
    return Grad.GRAPH if Grad.GRAPH in (one, other) else Grad.UNKNOWN


def result_grad(operands: Iterable[Grad]) -> Grad:
    """The grad status of what an operation makes of tensors with these: it carries graph if any of them requires grad."""
    statuses = set(operands)
    if statuses & {Grad.GRAPH, Grad.LEAF}:
        return Grad.GRAPH
    return Grad.NONE if statuses <= {Grad.NONE} else Grad.UNKNOWN


def item_of(kind: Kind, index: int | None) -> Kind:
    """What unpacking gives at ``index``; ``None`` stands for a starred target."""
    if index is None:
        return sequence(kind.element or UNKNOWN)
    if kind.items is not None and -len(kind.items) <= index < len(kind.items):
        return kind.items[index]
    return element_of(kind)


def element_of(kind: Kind) -> Kind:
    """What iterating over a value of a kind gives."""
    match kind.type:
        case Type.LOADER:
            return BATCH
        case Type.TENSOR:
            return kind if kind.loose else replace(kind, scalar=None, grad=result_grad([kind.grad]))
        case Type.SEQUENCE:
            return kind.element or UNKNOWN
        case Type.MAPPING:
            return UNKNOWN
        case Type.MODULE:
            return kind.element or Kind(Type.MODULE, why="a part of a module container")
    return UNKNOWN
