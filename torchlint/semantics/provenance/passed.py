"""What has run before a place, whatever the way there: so that what would have raised on the way has not."""

from __future__ import annotations

import ast
from collections.abc import Collection

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form

_SKIPPING = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.BoolOp, ast.IfExp)


class Passed:
    """Tells whether one of some uses of a value has run before another one."""

    def __init__(self, semantics: Semantics) -> None:
        self._tree = semantics.tree
        self._flow = semantics.control_flow

    def has_run(self, witnesses: Collection[ast.Name], name: ast.Name, binding: Binding) -> bool:
        """Whether every way to ``name`` from where ``binding`` binds its value leads through one of the ``witnesses``.

        Those are uses of the same binding that always run with their statements, as `runs_with_statement` tells.
        """
        if not witnesses or any(isinstance(parent, ast.Lambda) for parent in self._tree.ancestors(name)):
            return False
        scope = self._flow.scope(name)
        if self._flow.scope(binding.node) is scope and binding.form is not Form.PARAMETER:
            return not self._flow.may_follow(binding.node, name, avoiding=witnesses)
        return not self._flow.may_start_with(scope, name, avoiding=witnesses)

    def runs_with_statement(self, use: ast.expr) -> bool:
        """Whether a use runs whenever its statement does: not in a lambda, a generator, or behind an ``and``."""
        for parent in self._tree.ancestors(use):
            if isinstance(parent, ast.stmt):
                return True
            if isinstance(parent, _SKIPPING):
                return False
        return True
