"""Sequences of layers that get others once they are made: ``self.main.add_module("out", nn.Sigmoid())``, ``model[-1] = …``."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import dotted

_CHANGING = ("add_module", "register_module", "append", "insert", "extend", "pop")


class ChangedSequences:
    """Tells of the calls that make an ``nn.Sequential`` in one file whether what they make may get other layers."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def include(self, made: ast.Call) -> bool:
        """Whether layers are added to what is made here, or replaced, by the name or attribute that it is given."""
        statement = self._semantics.tree.parent(made)
        if not isinstance(statement, ast.Assign) or not self._changed:
            return False
        return any(dotted(target) in self._changed for target in statement.targets)

    @cached_property
    def _changed(self) -> set[str]:
        """What layers are added to or replaced in, as it is spelled."""
        calls = self._semantics.facts.calls
        owners = [call.func.value for name in _CHANGING for call in calls.get(name, ()) if isinstance(call.func, ast.Attribute)]
        owners += [node.value for node in self._semantics.tree.of_type(ast.Subscript) if not isinstance(node.ctx, ast.Load)]
        return {name for owner in owners if (name := dotted(owner)) is not None}
