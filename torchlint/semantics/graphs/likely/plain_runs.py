"""What modules without parameters give of values that have no graph: ``blur(batch)`` has none, either."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.semantics import Binding, Form, Grad, Semantics
from torchlint.semantics.code.tree import given_to
from torchlint.semantics.graphs.likely.inputs import LikelyInputs
from torchlint.semantics.graphs.likely.parameterless import ParameterlessModules

_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "clone", "contiguous", "view", "squeeze", "unsqueeze"})
_JOINS = frozenset({"torch.stack", "torch.cat", "torch.concat", "torch.unsqueeze", "torch.squeeze", "torch.autograd.Variable"})
_TRANSFORMS = "torchvision.transforms."
_DEPTH = 8


class PlainRuns:
    """Tells of values whether such modules made them of nothing but what surely has no graph, as a reader would say."""

    def __init__(self, semantics: Semantics, is_graphless: Callable[[ast.expr], bool]) -> None:
        self._semantics = semantics
        self._is_graphless = is_graphless
        self._modules = semantics.of(ParameterlessModules)
        self._known: dict[Binding, bool] = {}
        self._plain: dict[Binding, bool] = {}

    def are(self, node: ast.expr) -> bool:
        """Whether a value is what such a module gives of what has no graph, or a name for that."""
        return self._is_result(node, _DEPTH)

    def _is_result(self, node: ast.expr | None, depth: int) -> bool:
        if not depth:
            return False
        match node:
            case ast.Name():
                return self._all_bound(node, self._known, self._is_result, depth - 1)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _MOVES:
                return self._is_result(inner, depth)
            case ast.Call(func=function, args=[_, *_]) if self._modules.are(function):
                given = given_to(node)
                return all(self._is_plain(each, depth - 1) for each in given)
        return False

    def _all_bound(
        self, name: ast.Name, known: dict[Binding, bool], holds: Callable[[ast.expr | None, int], bool], depth: int
    ) -> bool:
        """Whether something holds of each value that a name is assigned."""
        bindings = self._semantics.bindings.reaching(name)
        for binding in bindings:
            if binding not in known:
                known[binding] = False  # while it is looked at
                known[binding] = binding.form is Form.ASSIGNMENT and not binding.path and holds(binding.value, depth)
        return bool(bindings) and all(known[each] for each in bindings)

    def _is_plain(self, value: ast.expr | None, depth: int) -> bool:
        """Whether a value has no graph: it is read, or made of what is."""
        if value is None or not depth:
            return False
        match value:
            case ast.Constant():
                return True
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(self._is_plain(each, depth - 1) for each in parts)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _MOVES:
                return self._is_plain(inner, depth)
            case ast.Call(func=ast.Call(func=function)) if self._name(function).startswith(_TRANSFORMS):
                return True
            case ast.Call(func=function, args=[first, *_], keywords=words) if self._name(function) in _JOINS:
                return not any(word.arg == "requires_grad" for word in words) and self._is_plain(first, depth - 1)
        kind = self._semantics.kind(value)
        if (kind.is_tensor and kind.grad is Grad.NONE) or self._semantics.of(LikelyInputs).is_read(value):
            return True
        if self._is_result(value, depth - 1) or (not isinstance(value, ast.Call) and self._is_graphless(value)):
            return True
        return isinstance(value, ast.Name) and self._all_bound(value, self._plain, self._is_plain, depth - 1)

    def _name(self, function: ast.expr) -> str:
        return self._semantics.qualified_name(function) or ""
