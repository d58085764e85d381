"""Gradients that are read of tensors which are no leaves, and have none."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.semantics import Binding, Form, Grad, Semantics
from torchlint.semantics.autograd.backwards import BACKWARDS
from torchlint.semantics.autograd.leaves import MAY_RETURN_ITSELF, Operations

Node = TypeVar("Node")
Place = TypeVar("Place")

_MADE_A_LEAF = frozenset({"requires_grad_", "retain_grad", "detach_"})
_NONE_TESTS = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)


@dataclass(frozen=True, eq=False, slots=True)
class Unretained(Generic[Node, Place]):
    """The gradient of ``tensor``, the result of an operation, that nothing retains.

    ``copied_by`` is the method where that made a mere copy of a leaf. It could be retained ``before`` a statement with a
    backward pass, or else ``behind`` each of some, if there are any; with ``certainty`` a backward pass is shown to come then.
    """

    tensor: Node
    copied_by: str = ""
    before: Place | None = None
    behind: tuple[Place, ...] = ()
    certainty: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Rebound(Generic[Node, Place]):
    """The gradient of ``tensor``, a leaf in a loop's first round only, as ``update`` makes a new tensor of it.

    ``cleared`` is whether the file clears the gradient.
    """

    tensor: Node
    update: Place
    cleared: bool


Read: TypeAlias = Unretained[ast.expr, ast.stmt] | Rebound[ast.expr, ast.stmt]


class NonleafGradients:
    """Finds the gradients that are always ``None``."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._operations = semantics.of(Operations)

    @cached_property
    def reads(self) -> dict[ast.Attribute, Read]:
        """The reads of a ``.grad`` that is always ``None``."""
        if not self._backwards:
            return {}
        attributes = self._semantics.tree.of_type(ast.Attribute)
        gradients = (node for node in attributes if node.attr == "grad" and isinstance(node.ctx, ast.Load))
        found = ((node, self._read(node)) for node in gradients)
        return {node: read for node, read in found if read is not None}

    @cached_property
    def _backwards(self) -> list[ast.Call]:
        calls = self._semantics.facts.calls
        return [call for name in sorted(BACKWARDS) for call in calls.get(name, ())]

    def _read(self, node: ast.Attribute) -> Read | None:
        is_result = self._operations.is_result(node.value)
        if not (is_result or isinstance(node.value, ast.Name)) or self._is_questioned(node):
            return None
        match node.value:
            case ast.Name() as name:
                return self._of_name(node, name) if is_result else self._of_updated(node, name)
            case ast.Attribute() as attribute:
                return self._of_attribute(attribute)
            case ast.Call(func=ast.Attribute(attr=method)) if method in _MADE_A_LEAF:
                return None
        return Unretained(node.value)

    # --- whether None is reckoned with -------------------------------------------------------------------------------

    def _is_questioned(self, node: ast.Attribute) -> bool:
        """Whether ``None`` is reckoned with: the read is compared with it, or stands behind such a test."""
        if self._is_compared(node):
            return True
        text = ast.unparse(node)
        child: ast.AST = node
        for parent in self._semantics.tree.ancestors(node):
            match parent:
                case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if child is not test:
                    if text in ast.unparse(test):
                        return True
                case ast.BoolOp(values=[first, *_]) if child is not first and text in ast.unparse(first):
                    return True
            child = parent
        return False

    def _is_compared(self, node: ast.Attribute) -> bool:
        match self._semantics.tree.parent(node):
            case ast.Compare(ops=[operator], comparators=[ast.Constant(value=None)]):
                return isinstance(operator, _NONE_TESTS)
            case ast.Call(func=ast.Attribute(attr="assertIsNone")):
                return True
        return False

    # --- results of operations ---------------------------------------------------------------------------------------

    def _of_name(self, node: ast.Attribute, name: ast.Name) -> Unretained[ast.expr, ast.stmt] | None:
        bindings = self._made_by(self._semantics.bindings.reaching(name))
        if self._are_made_leaves(bindings) or self._are_retained_elsewhere(bindings):
            return None
        made = [binding.node for binding in bindings if binding.form is not Form.AUGMENTED]
        statements = [self._semantics.tree.statement(each) for each in made]
        copied_by = _copying_method([binding.value for binding in bindings])
        before = self._backward_between(statements[0], node) if len(statements) == 1 else None
        certain = all(any(self._follows(statement, call, node) for call in self._backwards) for statement in statements)
        return Unretained(name, copied_by, before, _assignments(statements), certain)

    def _made_by(self, bindings: tuple[Binding, ...]) -> list[Binding]:
        """The bindings, and those that augmented assignments among them add to."""
        found: list[Binding] = []
        pending = list(bindings)
        while pending:
            binding = pending.pop()
            if binding not in found:
                found.append(binding)
                pending.extend(binding.before)
        return found

    def _of_attribute(self, attribute: ast.Attribute) -> Unretained[ast.expr, ast.stmt] | None:
        owner = self._semantics.facts.self_class(attribute.value)
        slots = self._semantics.facts.slots(owner, attribute.attr) if owner is not None else []
        if not slots or any(self._is_made_leaf(use) for slot in slots for use in slot.uses):
            return None
        stores = [self._semantics.tree.statement(store) for slot in slots for store in slot.stores]
        stores = [store for store in stores if not _stores_none(store)]
        return Unretained(attribute, behind=_assignments(stores) if len(stores) == 1 else ())

    def _are_made_leaves(self, bindings: list[Binding]) -> bool:
        return any(self._is_made_leaf(use) for binding in bindings for use in binding.uses)

    def _is_made_leaf(self, use: ast.expr) -> bool:
        """Whether a use gives the tensor a `.grad` after all: `retain_grad()`, `requires_grad`, or a gradient assigned."""
        match self._semantics.tree.parent(use):
            case ast.Attribute(attr=name) if name in _MADE_A_LEAF:
                return True
            case ast.Attribute(attr="requires_grad" | "grad", ctx=ast.Store()):
                return True
        return False

    def _are_retained_elsewhere(self, bindings: list[Binding]) -> bool:
        """Whether a tensor may be among those that a loop or function calls `retain_grad` on."""
        collective = [call for call in self._semantics.facts.calls.get("retain_grad", ()) if not self._is_of_known(call)]
        if not collective:
            return False
        return any(
            isinstance(self._semantics.tree.parent(use), (ast.Tuple, ast.List, ast.Dict, ast.Call, ast.keyword, ast.Return))
            for binding in bindings
            for use in binding.uses
        )

    def _is_of_known(self, call: ast.Call) -> bool:
        """Whether `retain_grad` is called on a variable that was assigned itself."""
        match call.func:
            case ast.Attribute(value=ast.Name() as name):
                return all(binding.form is Form.ASSIGNMENT for binding in self._semantics.bindings.reaching(name))
        return False

    def _follows(self, statement: ast.stmt, backward: ast.Call, node: ast.Attribute) -> bool:
        flow = self._semantics.control_flow
        return flow.may_follow(statement, backward) and flow.may_follow(backward, node)

    def _backward_between(self, statement: ast.stmt, node: ast.Attribute) -> ast.stmt | None:
        """The first statement behind ``statement``, in its block, in which a backward pass runs before ``node`` is read."""
        block = self._semantics.tree.block(statement)
        for following in block[block.index(statement) + 1 :]:
            if any(
                self._semantics.tree.inside(call, following) and self._follows(statement, call, node)
                for call in self._backwards
            ):
                return following
        return None

    # --- leaves that are updated -------------------------------------------------------------------------------------

    def _of_updated(self, node: ast.Attribute, name: ast.Name) -> Rebound[ast.expr, ast.stmt] | None:
        """``w.grad`` where ``w`` is a leaf in a loop's first round only, for ``w = w - lr * w.grad`` makes a new one."""
        tree, bindings = self._semantics.tree, self._semantics.bindings.reaching(name)
        loops = list(tree.loops(node))
        updates = [
            binding
            for binding in bindings
            if any(tree.inside(binding.node, loop) for loop in loops) and self._is_update(binding)
        ]
        others = [binding for binding in bindings if binding not in updates]
        if (
            not updates
            or not any(self._is_leaf(binding) for binding in others)
            or self._are_made_leaves(self._made_by(bindings))
        ):
            return None
        zeroed = (ast.unparse(call.func) for call in self._semantics.facts.calls.get("zero_", ()))
        return Rebound(name, tree.statement(updates[0].node), f"{name.id}.grad.zero_" in zeroed)

    def _is_update(self, binding: Binding) -> bool:
        """Whether a binding is that of ``w = w - x``, recorded by autograd."""
        match binding.value:
            case ast.BinOp(left=ast.Name(id=name)) as value if binding.form is Form.ASSIGNMENT and not binding.path:
                return name == binding.name and not self._semantics.no_grad.covers(value)
        return False

    def _is_leaf(self, binding: Binding) -> bool:
        return self._semantics.inference.binding_kind(binding).grad is Grad.LEAF


def _assignments(statements: list[ast.stmt]) -> tuple[ast.stmt, ...]:
    """All of some statements, if each is one behind which its target can be used."""
    return tuple(statements) if all(isinstance(each, (ast.Assign, ast.AnnAssign)) for each in statements) else ()


def _copying_method(values: list[ast.expr | None]) -> str:
    """The method that made the last of some values, if it may as well have returned the tensor itself."""
    methods = [value.func.attr for value in values if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)]
    return next((method for method in reversed(methods) if method in MAY_RETURN_ITSELF), "")


def _stores_none(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
