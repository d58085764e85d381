"""Changes in place of tensors that an operation has saved for the backward pass, which is still to come."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.semantics import Binding, Form, Semantics, torch_api
from torchlint.semantics.autograd.later_backwards import LaterBackwards
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.gradients.saved.tensors import SAVING_MODULES, SavedTensors
from torchlint.semantics.memory.inplace import Flagged, InplaceChange, InplaceChanges, InplaceModules

_DECIDING = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
"""What decides whether the code in it runs."""
Node = TypeVar("Node")
Place = TypeVar("Place")


class OutOfPlace(Enum):
    """How a change in place is made out of place."""

    OPERATION = auto()  # `y = y * 2` for `y *= 2`
    METHOD = auto()  # `y = y.mul(2)` for `y.mul_(2)`
    UNFLAGGED = auto()  # without `inplace=True`
    CLONED = auto()  # as it is, on a clone that is made first


@dataclass(frozen=True, eq=False, slots=True)
class SavedChange(Generic[Node, Place]):
    """A change of ``target`` in place, which ``saving``, an operation, has saved for the backward pass.

    ``node`` is the call, the target or the augmented assignment that makes it; where a module that works in place does it, it
    is ``module``. ``given`` is whether the tensor may be an argument of the function. ``instead`` is how the change is made out
    of place, if it can be; ``flagged`` are the calls that ask for work in place, and ``first`` is the statement in front of
    which a clone is made, for this change and those that follow in its block.
    """

    node: Place
    target: Node
    saving: Node
    module: Node | None
    given: bool
    instead: OutOfPlace | None
    flagged: tuple[Flagged[Node], ...]
    first: Place | None = None
    is_conditional: bool = False
    """Whether a condition decides if ``saving`` is run, and the change is made in any case: both may never be."""


@dataclass(frozen=True, eq=False, slots=True)
class SavedLayerChange(Generic[Node]):
    """A module that changes in place what ``saving``, the one before it in a sequence, has saved for the backward pass."""

    flagged: Flagged[Node]
    saving: Node


_Saved: TypeAlias = SavedChange[ast.expr, ast.expr | ast.stmt]


class SavedChanges:
    """Finds the changes in place of a file that make a backward pass raise."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._no_grad = semantics.no_grad
        self._changes = semantics.of(InplaceChanges)
        self._saved = semantics.of(SavedTensors)
        self._later = semantics.of(LaterBackwards)
        self._kept: dict[Binding, list[ast.expr]] = {}

    @cached_property
    def at(self) -> dict[ast.expr | ast.stmt, SavedChange[ast.expr, ast.expr | ast.stmt]]:
        """The changes, by the nodes that make them."""
        found = (self._found(change) for change in self._changes.all if not self._no_grad.covers(change.node))
        return {change.node: change for change in self._cloned(filter(None, found))}

    @cached_property
    def in_sequences(self) -> dict[ast.expr, SavedLayerChange[ast.expr]]:
        """The layers of an `nn.Sequential` that change in place what the layer before them has saved, by their calls."""
        made = self._semantics.of(InplaceModules).made
        found: dict[ast.expr, SavedLayerChange[ast.expr]] = {}
        for call in self._tree.of_type(ast.Call) if made else ():
            pairs = [(first, second) for first, second in zip(call.args, call.args[1:]) if second in made]
            if pairs and self._semantics.qualified_name(call.func) == "torch.nn.Sequential":
                for first, second in pairs:
                    if isinstance(first, ast.Call) and self._semantics.qualified_name(first.func) in SAVING_MODULES:
                        found[second] = SavedLayerChange(made[second], first)
        return found

    def _found(self, change: InplaceChange) -> _Saved | None:
        """The change, if it is one of what is saved."""
        bindings = self._changes.bindings(change)
        if isinstance(change.target, ast.Name):
            saving = self._saving(change, bindings) if self._may_be_tensor(change, bindings) else None
        else:
            saving = self._saving_result(change) if change.module is not None else None
        if saving is None:
            return None
        given = any(binding.form is Form.PARAMETER for binding in bindings)
        instead = self._instead(change)
        return SavedChange(
            *(change.node, change.target, saving, change.module, given, instead, change.flagged),
            is_conditional=self._is_conditional(saving, change.node),
        )

    def _is_conditional(self, saving: ast.expr, changing: ast.AST) -> bool:
        """Whether the change may be made without ``saving`` having been run."""
        for parent in self._tree.ancestors(saving):
            if isinstance(parent, (*FUNCTIONS, ast.Lambda)):
                return False
            if isinstance(parent, _DECIDING) and not self._tree.inside(changing, parent):
                return True
        return False

    def _may_be_tensor(self, change: InplaceChange, bindings: tuple[Binding, ...]) -> bool:
        """Whether a variable is known to be a tensor, somewhere on the ways to its change; a module is given nothing else."""
        inference = self._semantics.inference
        return change.module is not None or any(inference.binding_kind(binding).is_tensor for binding in bindings)

    # --- what is saved -----------------------------------------------------------------------------------------------

    def _saving(self, change: InplaceChange, bindings: tuple[Binding, ...]) -> ast.expr | None:
        """The operation that has saved what is changed, and whose backward pass is still to come."""
        for binding in bindings:
            saving = self._keeping_result(binding) or self._keeping_operand(binding, change)
            if saving is not None and self._later.may_follow(change.node, saving, self._results(change, binding, saving)):
                return saving
        return None

    def _saving_result(self, change: InplaceChange) -> ast.expr | None:
        """The operation whose result is changed where it is made, ``self.dropout(scores.softmax(1))``, if it has saved it."""
        saving = self._saved.keeping_result(change.target)
        if saving is None or not self._later.may_follow(change.node, saving, self._bound_to(change.node)):
            return None
        return saving

    def _keeping_result(self, binding: Binding) -> ast.expr | None:
        if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None:
            return None
        return self._saved.keeping_result(binding.value)

    def _keeping_operand(self, binding: Binding, change: InplaceChange) -> ast.expr | None:
        """An operation that keeps the binding's value and that is done before the change, with no new value in between."""
        operations = self._keeping(binding)
        same_name = binding.scope.bindings.get(binding.name, ()) if operations else ()
        others = tuple(other.node for other in same_name if other.node is not change.target)
        for operation in operations:
            if self._tree.inside(operation, change.statement):
                if self._is_evaluated_with(operation, change):
                    return operation
            elif self._semantics.control_flow.may_follow(operation, change.node, others):
                return operation
        return None

    def _keeping(self, binding: Binding) -> list[ast.expr]:
        """The operations that keep a binding's value for the backward pass."""
        if binding not in self._kept:
            uses = (use for use in binding.uses if not self._no_grad.covers(use))
            found = (self._saved.keeping_operand(use) for use in uses)
            self._kept[binding] = [operation for operation in found if operation is not None]
        return self._kept[binding]

    def _is_evaluated_with(self, operation: ast.expr, change: InplaceChange) -> bool:
        """Whether a part of the statement that makes the change is evaluated before it, each time."""
        for parent in self._tree.ancestors(operation):
            if isinstance(parent, (ast.IfExp, ast.BoolOp, ast.Lambda)):
                return False
            if parent is change.statement:
                return not isinstance(change.node, ast.Call) or self._tree.inside(operation, change.node)
        return False

    # --- what it goes into -------------------------------------------------------------------------------------------

    def _results(self, change: InplaceChange, binding: Binding, saving: ast.expr) -> set[Binding]:
        """The variables that what ``saving`` computes goes into."""
        results = set(self._bound_to(saving))
        if self._tree.inside(saving, self._tree.statement(binding.node)):
            results.add(binding)
        if self._tree.inside(saving, change.statement) and isinstance(change.target, ast.Name):
            changed = self._semantics.bindings.of(change.target)
            results.add(changed if changed is not None else binding)
        return results

    def _bound_to(self, operation: ast.expr | ast.stmt) -> list[Binding]:
        """What the result of an operation is bound to, or what it is a part of is."""
        match self._tree.statement(operation):
            case ast.Assign(targets=[ast.Name() as target]) | ast.AugAssign(target=ast.Name() as target):
                binding = self._semantics.bindings.of(target)
                return [binding] if binding is not None else []
        return []

    # --- what can be done instead ------------------------------------------------------------------------------------

    def _instead(self, change: InplaceChange) -> OutOfPlace | None:
        """How a change is made out of place, ``None`` if its statement does not allow it."""
        if change.flagged:
            return OutOfPlace.UNFLAGGED if change.module is not None or _keeps_name(change) else None
        match change.statement:
            case ast.AugAssign(target=ast.Name()) if change.node is change.statement:
                return OutOfPlace.OPERATION
            case ast.Expr(value=value) if value is change.node and _has_twin(value):
                return OutOfPlace.METHOD
            case ast.Assign(value=value) if value is change.node and _has_twin(value) and _keeps_name(change):
                return OutOfPlace.METHOD
            case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                return OutOfPlace.CLONED
        return None

    def _cloned(self, changes: Iterable[_Saved]) -> Iterator[_Saved]:
        """The changes; those that are made on a clone with the first of their block that is made on the same one."""
        firsts: dict[tuple[str, int], ast.stmt] = {}
        for change in changes:
            if change.instead is OutOfPlace.CLONED:
                statement = self._tree.statement(change.node)
                of_block = (ast.unparse(change.target), id(self._tree.block(statement)))
                change = replace(change, first=firsts.setdefault(of_block, statement))
            yield change


def _has_twin(call: ast.expr) -> bool:
    """Whether a method of a variable is called that works in place, and another one does the same out of place."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=method)):
            return method.removesuffix("_") in torch_api.TENSOR_METHODS
    return False


def _keeps_name(change: InplaceChange) -> bool:
    """Whether the statement gives the name of what is changed to the result: ``y = F.relu(y, inplace=True)``."""
    match change.statement, change.target:
        case ast.Assign(targets=[ast.Name(id=target)], value=value), ast.Name(id=name):
            return target == name and value is change.node
        case ast.Return(), _:
            return True
    return False
