"""Graphs that a backward pass has freed, so that nothing can be back-propagated through them again.

A criterion of torch keeps tensors for its backward pass, which frees them; a second pass through it raises (run on torch 2.13
for each of them). Whoever adds its loss to a sum has a sum that is good for its value alone.
"""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import given_to
from torchlint.semantics.graphs.kept_changes import ENDS
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.kinds.results import LOSS_FUNCTIONS, LOSS_MODULES

_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Pass)


class SpentGraphs:
    """Tells of values whether their graph is freed in the round that keeps them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._losses = Beliefs(semantics.bindings, self._find_loss)

    def fact(self, part: ast.expr, statement: ast.stmt) -> Fact:
        """Whether a backward pass frees the graph of ``part`` each time that ``statement`` runs, before it or right behind."""
        if not isinstance(part, ast.Name) or not self._losses.hold(part):
            return unknown(f"the graph of `{ast.unparse(part)}` may still be there")
        bindings = self._semantics.bindings.reaching(part)
        for use in bindings[0].uses:
            call = self._backward(use)
            if call is not None and set(self._semantics.bindings.reaching(use)) == set(bindings):
                if self._precedes(call, statement, bindings) or self._follows(call, statement):
                    return CERTAIN
        return unknown(f"the graph of `{part.id}` may still be there")

    def _backward(self, use: ast.Name) -> ast.Call | None:
        """The backward pass that a use starts and that frees the graph: ``loss.backward()``."""
        method = self._semantics.tree.parent(use)
        if not isinstance(method, ast.Attribute) or method.attr != "backward":
            return None
        call = self._semantics.tree.parent(method)
        return call if isinstance(call, ast.Call) and call.func is method and not call.args and not call.keywords else None

    def _precedes(self, call: ast.Call, statement: ast.stmt, bindings: tuple[Binding, ...]) -> bool:
        flow = self._semantics.control_flow
        return flow.scope(call) is flow.scope(statement) and not any(
            flow.scope(each.node) is not flow.scope(statement) or flow.may_follow(each.node, statement, avoiding=[call])
            for each in bindings
        )

    def _follows(self, call: ast.Call, statement: ast.stmt) -> bool:
        """Whether the call is a statement behind ``statement``, with nothing but simple ones between.

        None of these hands what has been added to on to other code, for which the graph is still there.
        """
        sums = {ast.unparse(node) for node in ast.walk(statement) if isinstance(getattr(node, "ctx", None), ast.Store)}
        block = self._semantics.tree.block(statement)
        if statement not in block:
            return False
        for later in block[block.index(statement) + 1 :]:
            if isinstance(later, ast.Expr) and later.value is call:
                return True
            if not isinstance(later, _SIMPLE) or any(self._is_handed_on(each, sums) for each in ast.walk(later)):
                return False
        return False

    def _is_handed_on(self, node: ast.AST, sums: set[str]) -> bool:
        """Whether a call gets one of some variables, of what may do more than show it, or make a number of it."""
        name = self._semantics.qualified_name(node.func) or "" if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or name in ENDS or name.startswith(("math.", "logging.")):
            return False
        return any(ast.unparse(each) in sums for each in given_to(node))

    def _find_loss(self, value: Value) -> bool:
        """Whether a value is what a criterion of torch gives, or a sum of such, perhaps with numbers."""
        match value:
            case Binding():
                return (
                    value.form is Form.ASSIGNMENT
                    and not value.path
                    and value.value is not None
                    and self._losses.hold(value.value)
                )
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(map(self._losses.hold, bindings))
            case ast.Call(func=function):
                if (self._semantics.qualified_name(function) or "") in LOSS_FUNCTIONS:
                    return True
                return isinstance(function, ast.Name) and self._is_criterion(function)
            case ast.BinOp(left=left, right=right):
                if isinstance(left, ast.Constant) or isinstance(right, ast.Constant):
                    return self._losses.hold(right if isinstance(left, ast.Constant) else left)
                return self._losses.hold(left) and self._losses.hold(right)
            case ast.UnaryOp(operand=inner):
                return self._losses.hold(inner)
        return False

    def _is_criterion(self, name: ast.Name) -> bool:
        """Whether a name stands for a criterion of torch that the file makes."""
        kind, bindings = self._semantics.kind(name), self._semantics.bindings.reaching(name)
        is_made = bool(bindings) and all(binding.form is Form.ASSIGNMENT for binding in bindings)
        return is_made and kind.type is Type.MODULE and kind.name in LOSS_MODULES
