"""Gradients that a statement computes and throws away: ``torch.autograd.grad(loss, model.parameters())``."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.expected_errors import is_tried
from torchlint.semantics.memory.discarded import DiscardedResults

_HOOKS = frozenset(
    {
        *("register_hook", "register_multi_grad_hook", "register_post_accumulate_grad_hook", "register_prehook"),
        *("register_backward_hook", "register_full_backward_hook", "register_full_backward_pre_hook"),
        *("register_module_full_backward_hook", "GradientEdge", "Function", "saved_tensors_hooks"),
    }
)
"""What code does on the way back, and keeps perhaps, it does whether the result is used or not."""


class DiscardedGradients:
    """Finds the calls whose gradients nobody gets: unlike `backward`, they set no `.grad`."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def found(self) -> dict[ast.Call, ast.expr]:
        """The calls that are statements, each with what is differentiated."""
        if not _HOOKS.isdisjoint(self._semantics.words.all):
            return {}
        statements = self._semantics.tree.of_type(ast.Expr)
        return {
            statement.value: statement.value.args[0]
            for statement in statements
            if isinstance(statement.value, ast.Call) and statement.value.args and self._is_for_nothing(statement)
        }

    def _is_for_nothing(self, statement: ast.Expr) -> bool:
        call = statement.value
        if not isinstance(call, ast.Call) or self._semantics.qualified_name(call.func) != "torch.autograd.grad":
            return False
        return not is_tried(self._semantics.tree, statement) and not self._semantics.of(DiscardedResults).is_measured(statement)
