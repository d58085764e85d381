"""What frozen networks give where nothing that they are given has a graph: it has none, whatever is computed of it."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Binding, Form, Grad, Semantics, Type
from torchlint.semantics.code.tree import given_to, last_name
from torchlint.semantics.graphs.frozen.networks import FrozenNetworks

_MAKING = re.compile(
    r"(^|_)(g|gen|generat\w*|sampl\w*|decod\w*|encod\w*|net|nets|network|model|student|forward|reconstruct\w*|synthes\w*|step)"
    r"(_|\d|$)|net$|model$",
    re.IGNORECASE,
)
"""What is called that computes something with weights, or may."""
_CUTTING = frozenset({"detach", "data", "numpy", "item", "tolist"})
"""Attributes and methods that leave the graph."""
_OF_ARRAYS = frozenset({"torch.from_numpy", "torch.tensor", "torch.as_tensor"})
"""Functions that make a tensor of what has no graph."""
_DEPTH = 16
"""So many names and calls may lie between a value and the network that gave it."""


class FrozenResults:
    """Tells of values whether frozen networks made them, of nothing that has a graph as far as the file shows."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._networks = semantics.of(FrozenNetworks)
        self._known: dict[Binding, bool] = {}
        self._carrying: dict[Binding, bool] = {}

    def are(self, node: ast.expr) -> bool:
        """Whether a frozen network gave a value, or functions of torch computed it of such values."""
        return self._is_result(node, _DEPTH)

    def is_graphless_run(self, call: ast.Call) -> bool:
        """Whether a call runs a frozen network, and gives it nothing that has a graph."""
        if not self._networks.are_run_by(call):
            return False
        return not any(self._may_carry(each, _DEPTH) for each in given_to(call))

    def _is_result(self, node: ast.expr | None, depth: int) -> bool:
        """Whether a value is such, by all that its names stand for."""
        if not depth:
            return False
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(self._is_bound(each, depth - 1) for each in bindings)
            case ast.Subscript(value=inner):
                return self._is_result(inner, depth)
            case ast.Call():
                return self.is_graphless_run(node) or self._is_computed(node, depth - 1)
        return False

    def _is_bound(self, binding: Binding, depth: int) -> bool:
        """Whether a variable, or that of a loop, has such a value."""
        if binding not in self._known:
            self._known[binding] = False  # while it is looked at
            is_taken = binding.form in (Form.ASSIGNMENT, Form.LOOP)
            self._known[binding] = is_taken and self._is_result(binding.value, depth)
        return self._known[binding]

    def _is_computed(self, call: ast.Call, depth: int) -> bool:
        """Whether a function of torch, or a method, makes something of such a value, and of nothing else with a graph."""
        others = given_to(call)
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("torch.") and others:
            first, *others = others
        elif isinstance(call.func, ast.Attribute):
            first = call.func.value
        else:
            return False
        return self._is_result(first, depth) and not any(self._may_carry(each, depth) for each in others)

    def _may_carry(self, value: ast.expr, depth: int) -> bool:
        """Whether something that is handed in may have a graph: it is made with weights, or asks for gradients."""
        if not depth:
            return True
        if self._semantics.kind(value).grad in (Grad.GRAPH, Grad.LEAF):
            return not self._is_result(value, depth - 1)
        match value:
            case ast.Name():
                return any(self._may_bind_carrier(each, depth - 1) for each in self._semantics.bindings.reaching(value))
            case ast.Attribute(attr=name) if name in _CUTTING:
                return False
            case ast.Call(func=ast.Attribute(attr=name)) if name in _CUTTING:
                return False
            case ast.Call(func=function, args=args):
                name = self._semantics.qualified_name(function) or ""
                if name in _OF_ARRAYS or name.startswith("numpy.") or self._semantics.no_grad.covers(value):
                    return False
                if self.is_graphless_run(value):
                    return False
                if self._runs_weights(function):
                    return True
                inner = [function.value] if isinstance(function, ast.Attribute) else []
                return any(self._may_carry(each, depth - 1) for each in [*inner, *args])
            case ast.Subscript(value=inner) | ast.Starred(value=inner):
                return self._may_carry(inner, depth)
            case ast.BinOp(left=left, right=right):
                return self._may_carry(left, depth - 1) or self._may_carry(right, depth - 1)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return any(self._may_carry(each, depth - 1) for each in parts)
        return False

    def _may_bind_carrier(self, binding: Binding, depth: int) -> bool:
        """Whether a variable has a value that may have a graph; what a parameter gets is taken to have none."""
        if binding not in self._carrying:
            self._carrying[binding] = False  # while it is looked at
            value = binding.value if binding.form in (Form.ASSIGNMENT, Form.AUGMENTED) else None
            self._carrying[binding] = value is not None and self._may_carry(value, depth)
        return self._carrying[binding]

    def _runs_weights(self, function: ast.expr) -> bool:
        """Whether what is called is a network that may be trained, or called like one."""
        name = self._semantics.qualified_name(function) or ""
        if name.startswith(("torch.", "numpy.", "builtins.")):
            return False
        if isinstance(function, ast.Call):
            return True  # `Net()(x)`
        return self._semantics.kind(function).type is Type.MODULE or _MAKING.search(last_name(function)) is not None
