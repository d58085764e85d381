"""Comparisons of the identity of tensors that may be different objects over the same memory."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type
from torchlint.semantics.memory.links import Links, Sharing, is_assigned
from torchlint.semantics.memory.places import Places

Node = TypeVar("Node")

_SAME_OBJECT = frozenset({"real", "conj", "positive", "as_tensor", "asarray", "as_subclass"})
"""What gives a tensor itself, where there is nothing to do."""
_ASSERTS_OF_IDS = frozenset({"assertEqual", "assertNotEqual"})
_ASSERTS_OF_OBJECTS = frozenset({"assertIs", "assertIsNot"})


@dataclass(frozen=True, eq=False, slots=True)
class Compared(Generic[Node]):
    """One side of a comparison: the tensor, or array over its memory, and what stands for it: ``id(x)``, or ``x`` itself.

    That may have been ``stored`` before, in another statement.
    """

    tensor: Node
    written: Node
    is_array: bool
    stored: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class IdentityTest(Generic[Node]):
    """A comparison of two objects."""

    one: Compared[Node]
    other: Compared[Node]


class IdentityTests:
    """Finds them in a file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._links = semantics.of(Links)
        self._places = semantics.of(Places)

    @cached_property
    def found(self) -> dict[ast.expr, IdentityTest[ast.expr]]:
        """The comparisons, by an operator or an assertion of unittest."""
        found: dict[ast.expr, IdentityTest[ast.expr]] = {}
        for node in (*self._semantics.tree.of_type(ast.Compare), *self._semantics.tree.of_type(ast.Call)):
            if (test := self._test(node)) is not None:
                found[node] = test
        return found

    def _test(self, node: ast.expr) -> IdentityTest[ast.expr] | None:
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                return self._ids(left, right)
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[right]):
                return self._objects(left, right)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[left, right, *_]):
                if name in _ASSERTS_OF_IDS:
                    return self._ids(left, right)
                return self._objects(left, right) if name in _ASSERTS_OF_OBJECTS else None
        return None

    # --- ids ---------------------------------------------------------------------------------------------------------

    def _ids(self, left: ast.expr, right: ast.expr) -> IdentityTest[ast.expr] | None:
        """The tensors whose ids are compared, one of them perhaps stored before."""
        one, other = self._id_of(left), self._id_of(right)
        if one is None or other is None or (one.stored and other.stored):
            return None
        if not self._is_of_torch(one.tensor, other.tensor):
            return None
        is_about_memory = self._is_name_before_and_after(one, other) or self._is_about_memory(one.tensor, other.tensor)
        return IdentityTest(one, other) if is_about_memory else None

    @staticmethod
    def _is_name_before_and_after(one: Compared[ast.expr], other: Compared[ast.expr]) -> bool:
        """Whether the id of what a variable refers to is compared with one that was stored before.

        For an attribute, the object may be what is asked for: an optimizer holds the parameter that a module has to keep.
        """
        match one.tensor, other.tensor:
            case ast.Name(id=name), ast.Name(id=other_name):
                return name == other_name and one.stored != other.stored
        return False

    def _id_of(self, node: ast.expr) -> Compared[ast.expr] | None:
        """The tensor of ``id(x)``, or of a name that such an id is bound to."""
        match node:
            case ast.Call(func=ast.Name(id="id") as function, args=[tensor], keywords=[]):
                is_builtin = self._semantics.qualified_name(function) == "builtins.id"
                return self._compared(tensor, node) if is_builtin and self._has_memory(tensor) else None
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                if len(bindings) == 1 and is_assigned(bindings[0]) and isinstance(bindings[0].value, ast.Call):
                    found = self._id_of(bindings[0].value)
                    return self._compared(found.tensor, found.written, stored=True) if found is not None else None
        return None

    def _compared(self, tensor: ast.expr, written: ast.expr, *, stored: bool = False) -> Compared[ast.expr]:
        return Compared(tensor, written, self._is_array(tensor), stored)

    # --- objects -----------------------------------------------------------------------------------------------------

    def _objects(self, left: ast.expr, right: ast.expr) -> IdentityTest[ast.expr] | None:
        """Two tensors that cannot be one object, whose identity is asked for."""
        if isinstance(left, ast.Constant) or isinstance(right, ast.Constant):
            return None
        if not (self._has_memory(left) and self._has_memory(right)) or not self._is_of_torch(left, right):
            return None
        if not self._is_about_memory(left, right):
            return None
        return IdentityTest(self._compared(left, left), self._compared(right, right))

    def _has_memory(self, node: ast.expr) -> bool:
        kind = self._semantics.kind(node)
        return (kind.is_tensor and not kind.loose) or self._is_storage(node) or self._is_array(node)

    def _is_of_torch(self, *sides: ast.expr) -> bool:
        """Whether one side at least is a tensor, or its storage, and not both are arrays."""
        return any(self._semantics.kind(side).is_tensor or self._is_storage(side) for side in sides)

    def _is_storage(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=tensor, attr="storage"), args=[]):
                return self._semantics.kind(tensor).is_tensor
        return False

    def _is_array(self, node: ast.expr) -> bool:
        """Whether a value is an array, over a tensor's memory or one that a tensor was made of."""
        return self._semantics.kind(node).type is Type.ARRAY

    def _is_about_memory(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether one side is a new object at each evaluation, or made from the other side."""
        if self._is_new(left) or self._is_new(right):
            return True
        return self._derives(left, right) or self._derives(right, left)

    def _is_new(self, node: ast.expr) -> bool:
        """Whether evaluating ``node`` makes a new object over existing memory."""
        if self._is_storage(node):
            return True
        link = self._links.link(node)
        if link is None or link.sharing is not Sharing.ALWAYS:
            return False
        return not link.name.endswith("_") and link.name not in _SAME_OBJECT

    def _derives(self, node: ast.expr, origin: ast.expr) -> bool:
        """Whether a name is bound to a new object over the memory of ``origin``: ``view = x.view(-1)``."""
        if not isinstance(node, ast.Name) or (place := self._places.place(origin)) is None:
            return False
        bindings = self._semantics.bindings.reaching(node)
        return len(bindings) == 1 and is_assigned(bindings[0]) and self._is_new_over(bindings[0].value, place.spelling)

    def _is_new_over(self, value: ast.expr | None, spelling: str) -> bool:
        if value is None or not self._is_new(value):
            return False
        start = self._links.chain(value)[-1].source if not self._is_storage(value) else value
        place = self._places.place(start)
        return place is not None and place.spelling == spelling
