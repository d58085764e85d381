"""Results and batches that a function works with for itself: nothing that it hands out has a graph that has saved them.

What is changed of such a value, hidden from autograd or not, makes no gradient wrong: `out = net(x)` in an evaluation, of which
an array is made, scaled and measured.
"""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Grad, Semantics, Type, torch_api
from torchlint.semantics.autograd.handed_out import HandedOut
from torchlint.semantics.autograd.later_backwards import LaterBackwards
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, last_name, walk_body
from torchlint.semantics.graphs.likely.graphless import LikelyGraphless
from torchlint.semantics.graphs.likely.inputs import LikelyInputs

_TRAINING = re.compile(r"backward|zero_grad|(^|_)(step|fit|learn)($|_)|optimi[sz]e|^train_|^(grad|vjp|jvp|hessian)$")
"""What functions are called that back-propagate what they are given."""
_LASTING = re.compile(r"weight|param|state|bias|buffer|embed|^(get|load|next|list|copy|deepcopy|dict|tuple)", re.IGNORECASE)
"""What calls are called that may give what lives on: parameters, what is kept."""
_SAME = torch_api.VIEW_METHODS | torch_api.MAYBE_VIEW_METHODS | {"cpu", "cuda", "to", "clone", "float", "double", "half"}
_DEPTH = 6


class LocalResults:
    """Tells of values whether they are such results, as far as the file shows."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._closed: dict[Function, bool] = {}

    def is_result(self, node: ast.expr) -> bool:
        """Whether a function has ``node`` of a call or a loader, and no backward can go through what it makes of it."""
        function = self._semantics.tree.function(node)
        if not isinstance(function, FUNCTIONS) or not self._is_closed(function):
            return False
        return self._is_made_here(node, _DEPTH)

    def _is_closed(self, function: Function) -> bool:
        """Whether a function neither back-propagates nor hands out anything that may be back-propagated."""
        if function not in self._closed:
            parts = list(walk_body(function.body))
            self._closed[function] = not (
                function.name == "forward"
                or self._semantics.of(LaterBackwards).are_in(function)
                or any(isinstance(part, ast.Call) and _TRAINING.search(last_name(part.func)) for part in parts)
                or any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Nonlocal, ast.Global)) for part in parts)
                or not all(map(self._has_no_graph, self._semantics.of(HandedOut).calls(function)))
            )
        return self._closed[function]

    def _has_no_graph(self, call: ast.Call) -> bool:
        return self._semantics.of(LikelyGraphless).is_graphless(call) or self._is_array(call, _DEPTH)

    def _is_array(self, node: ast.expr, depth: int) -> bool:
        """Whether a value is an array, or is computed of one."""
        if not depth or self._semantics.kind(node).type is Type.ARRAY:
            return bool(depth)
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT and each.value is not None and self._is_array(each.value, depth - 1)
                    for each in bindings
                )
            case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner):
                return self._is_array(inner, depth - 1)
            case ast.BinOp(left=left, right=right):
                return self._is_array(left, depth - 1) or self._is_array(right, depth - 1)
        return False

    def _is_made_here(self, node: ast.expr, depth: int) -> bool:
        """Whether a call gave a value, or a loop over a loader, and it was moved and looked at in parts since."""
        if not depth:
            return False
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(self._binds(each, depth - 1) for each in bindings)
            case ast.Subscript(value=inner) | ast.Attribute(value=inner, attr="data"):
                return self._is_made_here(inner, depth)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _SAME or method == "detach":
                return self._is_made_here(inner, depth)
            case ast.Call(func=function, args=[inner]) if self._semantics.qualified_name(function) == "torch.autograd.Variable":
                return self._is_made_here(inner, depth)
            case ast.Call():
                return self._computes(node)
        return False

    def _binds(self, binding: Binding, depth: int) -> bool:
        if binding.value is None or binding.scope.node is not self._semantics.tree.function(binding.node):
            return False
        if binding.form is Form.LOOP:
            return self._semantics.of(LikelyInputs).gives_batches(binding.value)
        return binding.form is Form.ASSIGNMENT and self._is_made_here(binding.value, depth)

    def _computes(self, call: ast.Call) -> bool:
        """Whether a call computes a new value: one with a graph, or one where autograd is off, and not what lives on."""
        kind = self._semantics.kind(call)
        if kind.is_tensor and kind.grad is Grad.GRAPH:
            return True
        name = last_name(call.func)
        is_own = isinstance(call.func, ast.Name) and not (self._semantics.qualified_name(call.func) or "")
        return is_own and _LASTING.search(name) is None and self._semantics.of(LikelyGraphless).is_graphless(call)
