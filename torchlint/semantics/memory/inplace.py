"""Changes in place: which tensor a change reaches, and which calls and modules of torch work in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Semantics, torch_api
from torchlint.semantics.code.tree import position
from torchlint.semantics.memory.changes import CHANGES_VALUES

Node = TypeVar("Node")

_VIEWS = torch_api.VIEW_METHODS - {"detach", "numpy"}
_CLASSES = {
    **dict.fromkeys(("ReLU", "ReLU6", "SiLU", "SELU", "Mish", "Hardswish", "Hardsigmoid"), 0),
    **dict.fromkeys(("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"), 1),
    **dict.fromkeys(("LeakyReLU", "ELU", "CELU"), 1),
    **dict.fromkeys(("RReLU", "Hardtanh", "Threshold"), 2),
}
"""Classes of `torch.nn` that can work in place, and the position of the argument that makes them."""
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
"""The operators whose augmented assignments change a tensor in place."""


@dataclass(frozen=True, eq=False, slots=True)
class Flagged(Generic[Node]):
    """A call that asks for work in place: ``flag`` is the ``True`` of its ``inplace=True``, or that in the place of it."""

    call: Node
    flag: Node


@dataclass(frozen=True, eq=False, slots=True)
class InplaceChange:
    """A change of a tensor in place.

    ``node`` is the call, the target or the augmented assignment that makes it, ``target`` what is changed, ``x`` of
    ``x[0].mul_(2)``. Where it is made because of an ``inplace=True``, ``flagged`` are the calls that say so: the one that makes
    it, or all that may have made the ``module`` that does.
    """

    node: ast.expr | ast.AugAssign
    target: ast.expr
    statement: ast.stmt
    flagged: tuple[Flagged[ast.expr], ...] = ()
    module: ast.expr | None = None


class InplaceChanges:
    """Finds what changes tensors of a file in place, as far as that can be told by how it is written."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._modules = semantics.of(InplaceModules)

    @cached_property
    def all(self) -> list[InplaceChange]:
        """The changes, in the order of the text. Whether a tensor is changed, and not a list, they do not tell."""
        return sorted(self._found(), key=lambda change: position(change.node))

    def bindings(self, change: InplaceChange) -> tuple[Binding, ...]:
        """The bindings whose value is changed; none where what is changed has no name."""
        if not isinstance(change.target, ast.Name):
            return ()
        if isinstance(change.target.ctx, ast.Store):
            binding = self._semantics.bindings.of(change.target)
            return binding.before if binding is not None else ()
        return self._semantics.bindings.reaching(change.target)

    def _found(self) -> Iterator[InplaceChange]:
        for augmented in self._tree.of_type(ast.AugAssign):
            if isinstance(augmented.op, _OPERATORS):
                yield InplaceChange(augmented, changed_tensor(augmented.target), augmented)
        for assignment in self._tree.of_type(ast.Assign):
            for target in assignment.targets:
                if isinstance(target, ast.Subscript):
                    yield InplaceChange(target, changed_tensor(target), assignment)
        for call in self._tree.of_type(ast.Call):
            yield from self._made_by(call)

    def _made_by(self, call: ast.Call) -> Iterator[InplaceChange]:
        """The change that a call makes: ``y.mul_(2)``, ``F.relu(y, inplace=True)``, ``self.dropout(y)``."""
        if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGES_VALUES:
            if shares_memory(call.func.value):
                yield InplaceChange(call, changed_tensor(call.func.value), self._tree.statement(call))
        elif call.args and (flag := _inplace_flag(call)) is not None:
            if (self._semantics.qualified_name(call.func) or "").startswith("torch.nn.functional."):
                yield self._by_flag(call, (Flagged(call, flag),))
        elif call.args and (makers := self._modules.makers(call)):
            yield self._by_flag(call, makers, call.func)

    def _by_flag(self, call: ast.Call, flagged: tuple[Flagged[ast.expr], ...], module: ast.expr | None = None) -> InplaceChange:
        return InplaceChange(call, changed_tensor(call.args[0]), self._tree.statement(call), flagged, module)


class InplaceModules:
    """Finds the modules of a file that work in place."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def made(self) -> dict[ast.expr, Flagged[ast.expr]]:
        """The calls that make such modules."""
        found: dict[ast.expr, Flagged[ast.expr]] = {}
        for name, place in _CLASSES.items():
            for call in self._semantics.facts.calls.get(name, ()):
                if self._semantics.qualified_name(call.func) == f"torch.nn.{name}":
                    if (flag := _inplace_flag(call, place)) is not None:
                        found[call] = Flagged(call, flag)
        return found

    def makers(self, call: ast.Call) -> tuple[Flagged[ast.expr], ...]:
        """The calls that make the module that is called, if it works in place however it was made; else none."""
        if not self.made:
            return ()
        values = [value.body if isinstance(value, ast.IfExp) else value for value in self._values(call.func)]
        found = tuple(self.made[value] for value in values if value in self.made)
        return found if len(found) == len(values) else ()

    def _values(self, function: ast.expr) -> list[ast.expr | None]:
        match function:
            case ast.Name() as name:
                return [binding.value for binding in self._semantics.bindings.reaching(name)]
            case ast.Attribute(value=owner, attr=attribute):
                own_class = self._semantics.facts.self_class(owner)
                slots = self._semantics.facts.slots(own_class, attribute) if own_class is not None else []
                return [getattr(self._semantics.tree.parent(store), "value", None) for slot in slots for store in slot.stores]
        return []


def _inplace_flag(call: ast.Call, place: int | None = None) -> ast.expr | None:
    """The ``True`` of a call's ``inplace=True``, or that at its place among the arguments."""
    for word in call.keywords:
        if word.arg == "inplace" and _is_true(word.value):
            return word.value
    if place is not None and len(call.args) > place and _is_true(call.args[place]):
        return call.args[place]
    return None


def changed_tensor(node: ast.expr) -> ast.expr:
    """The tensor that a change of ``node`` changes: ``x`` of ``x[0]``, of ``x.view(-1)[1:]``."""
    while True:
        match node:
            case ast.Subscript(value=value):
                node = value
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in _VIEWS:
                node = value
            case _:
                return node


def shares_memory(node: ast.expr) -> bool:
    """Whether ``x[…]`` shares the memory of ``x``, as it does for numbers and slices, and not for masks and index tensors."""
    match node:
        case ast.Subscript(value=value, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            return all(isinstance(part, (ast.Slice, ast.Constant, ast.UnaryOp)) for part in parts) and shares_memory(value)
        case ast.Call(func=ast.Attribute(value=value)):
            return shares_memory(value)
    return True


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
