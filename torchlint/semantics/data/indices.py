"""Values without a graph: the positions that ``max(dim)`` gives second, and what distributions sample."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Semantics, torch_api
from torchlint.semantics.code.tree import last_name

_INDICES = frozenset(
    {"argmax", "argmin", "argsort", "multinomial", "nonzero", "randperm", "randint", "bucketize", "searchsorted"}
)


class Indices:
    """Tells of names whether all that they may be bound to are positions in tensors, or were drawn."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are(self, value: ast.expr) -> bool:
        """Whether a value has no graph for certain, as it is a position or was drawn by a distribution's ``sample()``."""
        if isinstance(value, ast.Call):
            return self._gives_indices(value)
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        return bool(bindings) and all(map(self._binds_indices, bindings))

    def _binds_indices(self, binding: Binding) -> bool:
        if binding.form is not Form.ASSIGNMENT or not isinstance(binding.value, ast.Call):
            return False
        call = binding.value
        if binding.path == (1,):
            return last_name(call.func) in torch_api.VALUES_AND_INDICES and bool(call.args or call.keywords)
        return not binding.path and self._gives_indices(call)

    def _gives_indices(self, call: ast.Call) -> bool:
        name = last_name(call.func)
        if name != "sample" or not isinstance(call.func, ast.Attribute):
            return name in _INDICES
        return self._is_distribution(call.func.value)

    def _is_distribution(self, owner: ast.expr) -> bool:
        """Whether something is one of torch's distributions, whose ``sample()`` is without autograd, unlike ``rsample()``."""
        if isinstance(owner, ast.Call):
            return (self._semantics.qualified_name(owner.func) or "").startswith("torch.distributions.")
        bindings = self._semantics.bindings.reaching(owner) if isinstance(owner, ast.Name) else ()
        return bool(bindings) and all(
            isinstance(each.value, ast.Call) and not each.path and self._is_distribution(each.value) for each in bindings
        )
