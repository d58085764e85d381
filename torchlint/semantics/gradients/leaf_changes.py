"""Changes in place of leaves that require grad, which raise unless autograd is off."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Basis, Form, Grad, Semantics
from torchlint.semantics.autograd.later_backwards import LaterBackwards
from torchlint.semantics.code.tree import FUNCTIONS, dotted
from torchlint.semantics.gradients.saved.changes import SavedChanges
from torchlint.semantics.memory.inplace import InplaceChange, InplaceChanges

Node = TypeVar("Node")
Place = TypeVar("Place")


@dataclass(frozen=True, eq=False, slots=True)
class LeafChange(Generic[Node, Place]):
    """A change in place of ``target``, a leaf that requires grad; ``node`` is the call, target or assignment that makes it.

    ``takes_graph`` is whether what is put into the leaf carries a graph, which `no_grad` would silently cut off, and ``whole``
    whether the change is all that its statement does.
    """

    node: Place
    target: Node
    takes_graph: bool
    whole: bool


class LeafChanges:
    """Finds the changes of leaves in a file where autograd is surely on."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._changes = semantics.of(InplaceChanges)
        self._later = semantics.of(LaterBackwards)

    @cached_property
    def at(self) -> dict[ast.expr | ast.stmt, LeafChange[ast.expr, ast.expr | ast.stmt]]:
        """The changes, by the nodes that make them; those of what an operation has saved are not among them."""
        saved = self._semantics.of(SavedChanges).at
        return {
            change.node: LeafChange(change.node, change.target, self._takes_graph(change), _is_whole(change))
            for change in self._changes.all
            if change.node not in saved and self._is_of_leaf(change)
        }

    def _is_of_leaf(self, change: InplaceChange) -> bool:
        """Whether a variable or an attribute is changed that is a leaf, while autograd is on."""
        if change.module is not None or not isinstance(change.target, (ast.Name, ast.Attribute)):
            return False
        if self._semantics.no_grad.covers(change.node):
            return False
        return self._is_leaf(change) and self._runs_with_grad(change) and not self._is_frozen(change)

    def _is_leaf(self, change: InplaceChange) -> bool:
        if isinstance(change.target, ast.Name):
            kinds = [self._semantics.inference.binding_kind(binding) for binding in self._changes.bindings(change)]
        else:
            kinds = [self._semantics.kind(change.target)]
        if not kinds or kinds[0].basis is Basis.OPTIMIZED:
            return False  # it holds for the parameters of an optimizer, and is guessed for what else is in its groups
        return all(kind.is_tensor and kind.grad is Grad.LEAF for kind in kinds)

    def _runs_with_grad(self, change: InplaceChange) -> bool:
        """Whether autograd is surely on: in a constructor, a training loop, the main program, or where the leaf was made.

        Elsewhere the caller may have turned it off.
        """
        function = self._tree.function(change.node)
        if not isinstance(function, FUNCTIONS):
            return function is None
        if function.name in ("__init__", "forward", "training_step") or self._later.are_in(function):
            return True
        made = self._changes.bindings(change)
        return bool(made) and all(
            isinstance(binding.value, ast.Call) and binding.form is Form.ASSIGNMENT and binding.scope.node is function
            for binding in made
        )

    def _is_frozen(self, change: InplaceChange) -> bool:
        """Whether the file takes `requires_grad` away from the leaf, or makes it depend on something."""
        return dotted(change.target) in self._frozen

    @cached_property
    def _frozen(self) -> frozenset[str | None]:
        owners = [
            attribute.value
            for attribute in self._tree.of_type(ast.Attribute)
            if attribute.attr == "requires_grad" and isinstance(attribute.ctx, ast.Store)
        ]
        for call in self._semantics.facts.calls.get("requires_grad_", ()):
            if isinstance(call.func, ast.Attribute) and call.args:
                owners.append(call.func.value)
        return frozenset(map(dotted, owners))

    def _takes_graph(self, change: InplaceChange) -> bool:
        values: list[ast.expr] = []
        match change.statement:
            case ast.Assign(value=value) | ast.AugAssign(value=value):
                values.append(value)
            case ast.Expr(value=ast.Call(args=arguments)):
                values += arguments
        return any(self._semantics.kind(value).carries_graph for value in values)


def _is_whole(change: InplaceChange) -> bool:
    match change.statement:
        case ast.Expr(value=whole) | ast.Assign(targets=[whole]):
            return whole is change.node
    return change.statement is change.node
