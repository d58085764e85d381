"""Weights that are computed anew before each forward, so that what is written to them is lost: those under weight_norm."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import dotted

_NORMS = frozenset({"torch.nn.utils.weight_norm", "torch.nn.utils.parametrizations.weight_norm"})


class RecomputedWeights:
    """Tells of tensors whether they are weights of layers that weight_norm is put over, as far as the file shows."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_recomputed(self, tensor: ast.expr) -> bool:
        """Whether a tensor is the weight of what is given weight_norm, or of an argument where the file gives it to any."""
        if not isinstance(tensor, ast.Attribute) or tensor.attr != "weight" or not self._normed:
            return False
        if isinstance(tensor.value, ast.Name):
            bindings = self._semantics.bindings.reaching(tensor.value)
            if bindings and all(each.form is Form.PARAMETER for each in bindings):
                return True
        return self.is_named(tensor)

    def is_named(self, tensor: ast.expr) -> bool:
        """Whether a tensor is the weight of just what the file gives weight_norm, by the name that it has there."""
        return isinstance(tensor, ast.Attribute) and tensor.attr == "weight" and dotted(tensor.value) in self._normed - {""}

    @cached_property
    def _normed(self) -> frozenset[str]:
        """The names that the layers under weight_norm have."""
        found = {""} if self._calls else set()
        for call in self._calls:
            match self._semantics.tree.parent(call):
                case ast.Assign(targets=targets):
                    found.update(filter(None, map(dotted, targets)))
            found.update(filter(None, map(dotted, call.args[:1])))
        return frozenset(found)

    @cached_property
    def _calls(self) -> list[ast.Call]:
        calls = self._semantics.facts.calls.get("weight_norm", ())
        return [call for call in calls if self._semantics.qualified_name(call.func) in _NORMS]
