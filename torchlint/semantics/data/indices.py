"""Values without a graph: positions, as ``max(dim)`` gives them second and ``gather`` takes them, and what is sampled."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import last_name, spoken_name

_INDICES = frozenset(
    {"argmax", "argmin", "argsort", "multinomial", "nonzero", "randperm", "randint", "bucketize", "searchsorted"}
)
_SAME = frozenset(
    {"cpu", "cuda", "to", "long", "int", "view", "reshape", "squeeze", "unsqueeze", "flatten", "contiguous"}
    | {"float", "double", "half", "type"}
)
"""Methods that leave integers what they are, or cast them: of what has no graph, there is none behind a cast."""
_TAKE_PLACES = frozenset({"gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "index_select", "take_along_dim"})
_DISTRIBUTION = re.compile(r"(^|_)(dists?|distribution|normal|categorical|bernoulli|gaussian)$")
"""What distributions are called, those of classes that nobody sees among them."""


class Indices:
    """Tells of names whether all that they may be bound to are positions in tensors, or were drawn."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._choosing: dict[Binding, bool] = {}
        """Of each binding that was asked for, whether its value is given to torch for places."""

    def are(self, value: ast.expr) -> bool:
        """Whether a value has no graph, as it is a position or was drawn by a distribution's ``sample()``."""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
            value = value.func.value
        match value:
            case ast.Call():
                return self._gives_indices(value)
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=1)):
                return self._gives_pair(call)
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        return bool(bindings) and all(map(self._binds_indices, bindings))

    def _binds_indices(self, binding: Binding) -> bool:
        if binding not in self._choosing:
            self._choosing[binding] = any(map(self._chooses, binding.uses))
        if self._choosing[binding]:
            return True
        if binding.form is not Form.ASSIGNMENT or not isinstance(binding.value, ast.Call):
            return False
        call = binding.value
        if binding.path == (1,):
            return self._gives_pair(call)
        return not binding.path and self._gives_indices(call)

    def _chooses(self, use: ast.expr) -> bool:
        """Whether a value is given to torch for the places where it takes values from, or puts them: only integers can be."""
        match self._semantics.tree.parent(use):
            case ast.Call(func=ast.Attribute(attr=name) as function, args=given) if name in _TAKE_PLACES:
                is_of_torch = self._semantics.qualified_name(function) == f"torch.{name}"
                return use in given[1 + is_of_torch : 2 + is_of_torch]
        return False

    def _gives_pair(self, call: ast.Call) -> bool:
        """Whether a call gives values and, second, where these were found: `x.max(1)`, not `x.max()` or `x.max(y)`."""
        name = last_name(call.func)
        if name not in torch_api.VALUES_AND_INDICES or not (call.args or call.keywords):
            return False
        others = call.args[1:] if (self._semantics.qualified_name(call.func) or "").startswith("torch.") else call.args
        return name not in ("max", "min") or not (others and self._semantics.kind(others[0]).is_tensor)

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
        if _DISTRIBUTION.search(spoken_name(owner).lower()) and self._semantics.kind(owner).type in (
            Type.UNKNOWN,
            Type.INSTANCE,
        ):
            return True
        return bool(bindings) and all(
            isinstance(each.value, ast.Call) and not each.path and self._is_distribution(each.value) for each in bindings
        )
