"""Values without a graph that no backward pass has a use for where they are changed: masks that are filled, statistics.

An operation may have saved such a value all the same, to give others their gradients: `x * mask` keeps the mask. So a function
must not have computed with it before. As in `graphs.likely.graphless`, that is a reader's judgement: what other functions do
with a buffer is not looked at.
"""

from __future__ import annotations

import ast

from torchlint.semantics import Form, Grad, Semantics
from torchlint.semantics.code.tree import position
from torchlint.semantics.conditions.assumptions import Assumptions

_READ = frozenset(
    {
        *("data", "shape", "size", "dim", "ndim", "numel", "device", "dtype", "is_cuda", "new", "type"),
        *("tolist", "item", "numpy", "clone", "detach", "cpu", "cuda", "to", "float", "long", "int", "byte", "bool"),
        *("copy_", "fill_", "zero_"),
    }
)
"""Attributes and methods by which nothing is computed that a gradient could go through."""
_TRAINING = ast.dump(ast.Attribute(ast.Name("self", ast.Load()), "training", ast.Load()))
_FUNCTION = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})


class UnsavedValues:
    """Tells of tensors whether a change of them leaves all gradients as they are."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def are_changed(self, tensor: ast.expr, change: ast.expr) -> bool:
        """Whether ``change`` is of a value that nothing has saved, of a gradient in its function, or not made in training."""
        if self._is_given_gradient(tensor) or self._semantics.of(Assumptions).at(change).truths.get(_TRAINING) is False:
            return True
        kind = self._semantics.kind(tensor)
        if not kind.is_tensor or kind.grad is not Grad.NONE or kind.loose:
            return False
        uses = self._uses(tensor)
        return uses is not None and all(self._is_read(use) for use in uses if self._may_come_before(use, change))

    def _is_given_gradient(self, tensor: ast.expr) -> bool:
        """Whether a tensor is what autograd gives the `backward` of a function of its own."""
        bindings = self._semantics.bindings.reaching(tensor) if isinstance(tensor, ast.Name) else ()
        if len(bindings) != 1 or bindings[0].form is not Form.PARAMETER:
            return False
        method = bindings[0].scope.node
        owner = self._tree.parent(method)
        if not isinstance(method, ast.FunctionDef) or method.name != "backward" or not isinstance(owner, ast.ClassDef):
            return False
        return any(self._semantics.qualified_name(base) in _FUNCTION for base in owner.bases)

    def _uses(self, tensor: ast.expr) -> list[ast.expr] | None:
        """Where a value is used that a function has made, or an attribute in the method around; None for all others."""
        if isinstance(tensor, ast.Name):
            bindings = self._semantics.bindings.reaching(tensor)
            if not bindings or any(each.form is not Form.ASSIGNMENT for each in bindings):
                return None
            return [use for each in bindings for use in each.uses]
        owner = self._semantics.facts.self_class(tensor.value) if isinstance(tensor, ast.Attribute) else None
        if owner is None or not isinstance(tensor, ast.Attribute):
            return None
        function = self._tree.function(tensor)
        uses = [use for slot in self._semantics.facts.slots(owner, tensor.attr) for use in slot.uses]
        return [use for use in uses if self._tree.function(use) is function]

    def _may_come_before(self, use: ast.expr, change: ast.expr) -> bool:
        if position(use) < position(self._tree.statement(change)):
            return True
        return not set(self._tree.loops(use)).isdisjoint(self._tree.loops(change))

    def _is_read(self, use: ast.expr) -> bool:
        """Whether a value is stored to, compared, moved or added, or only its form or its ``.data`` is read."""
        match self._tree.parent(use):
            case ast.Attribute(attr=name):
                return name in _READ
            case ast.Subscript(value=value, ctx=ast.Store()):
                return value is use
            case ast.Compare() | ast.Return() | ast.BinOp(op=ast.Add() | ast.Sub()):
                return True  # the gradients of sums and differences need neither operand
        return False
