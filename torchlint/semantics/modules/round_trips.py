"""Values that a module's layers compute, taken through NumPy and back within its forward: no gradient comes to those layers.

Whoever wants to stop the gradient writes ``x.detach()``. An array of which nothing but items is taken was made because
something asked for one, and ``detach`` was added because torch asked for that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function, last_name
from torchlint.semantics.modules.classes import ModuleClasses

Node = TypeVar("Node")

_MAKING = frozenset({"torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.Tensor", "torch.FloatTensor"})
_ARRAYS = frozenset({"numpy.array", "numpy.asarray", "numpy.copy", "numpy.float32"})
_LEAVING = frozenset({"numpy", "tolist"})
_STEPS = frozenset(
    {"detach", "cpu", "numpy", "tolist", "copy", "astype", "reshape", "squeeze", "flatten", "clone", "float", "to", "view"}
)
"""Methods that compute nothing."""
_SIZES = frozenset({"shape", "size", "dim", "device", "dtype", "type", "ndim", "is_cuda", "requires_grad"})
_DEPTH = 6


@dataclass(frozen=True, eq=False, slots=True)
class RoundTrip(Generic[Node]):
    """A call that makes a tensor of what was one: ``source``, which a layer has computed."""

    node: Node
    source: Node


class RoundTrips:
    """Finds the calls that make tensors of such arrays."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._bindings = semantics.bindings

    @cached_property
    def found(self) -> dict[ast.Call, RoundTrip[ast.expr]]:
        """The calls by which a value with a graph comes back without one, in a forward that computes on with it."""
        if not any(name in self._facts.calls for name in _LEAVING):
            return {}
        return {call: trip for call in self._makings() if (trip := self._trip(call)) is not None}

    def _makings(self) -> Iterator[ast.Call]:
        for name in ("tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor"):
            for call in self._facts.calls.get(name, ()):
                if len(call.args) == 1 and self._semantics.qualified_name(call.func) in _MAKING:
                    yield call

    def _trip(self, call: ast.Call) -> RoundTrip[ast.expr] | None:
        function = self._tree.function(call)
        if not isinstance(function, FUNCTIONS) or not self._semantics.of(ModuleClasses).is_run_by_forward(function):
            return None
        if self._semantics.no_grad.covers(call) or self._is_conditional(call, function) or self._freezes:
            return None
        source = self._source(call.args[0])
        if source is None or not self._is_of_layer(source) or not self._is_used_so_alone(source, function):
            return None
        return RoundTrip(call, source) if self._goes_on(call, function, 0) else None

    @cached_property
    def _freezes(self) -> bool:
        """Whether the file tells any parameters that they need no gradient."""
        told = [call.args[0] for call in self._facts.calls.get("requires_grad_", ()) if call.args]
        for assigned in self._tree.of_type(ast.Assign):
            if any(isinstance(target, ast.Attribute) and target.attr == "requires_grad" for target in assigned.targets):
                told.append(assigned.value)
        return any(not isinstance(each, ast.Constant) or each.value is False for each in told)

    def _is_conditional(self, call: ast.Call, function: Function) -> bool:
        """Whether a call is only made for some inputs or in one mode."""
        inner = (parent for parent in self._tree.ancestors(call) if self._tree.inside(parent, function))
        return any(isinstance(parent, (ast.If, ast.IfExp, ast.Try, ast.Match, ast.While)) for parent in inner)

    def _source(self, value: ast.expr) -> ast.Name | ast.Call | None:
        """The tensor that an array is of, as it is; `None` where anything is computed, or there is no array."""
        left = False
        for _ in range(_DEPTH * 2):
            match value:
                case ast.Subscript(value=inner) | ast.Attribute(attr="data", value=inner):
                    value = inner
                case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _STEPS and not self._is_api(value):
                    left = left or method in _LEAVING
                    value = inner
                case ast.Call(func=function, args=[inner]) if self._semantics.qualified_name(function) in _ARRAYS:
                    value = inner
                case ast.Name() if not left:
                    found = self._bindings.reaching(value)
                    if len(found) != 1 or found[0].form is not Form.ASSIGNMENT or found[0].path or found[0].value is None:
                        return None
                    value = found[0].value
                case ast.Name() | ast.Call():
                    return value if left else None
                case _:
                    return None
        return None

    def _is_api(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func)
        return name is not None and not name.startswith("builtins.")

    def _is_of_layer(self, source: ast.Name | ast.Call, depth: int = 0) -> bool:
        """Whether a value is what a layer of torch gives that the module itself has, perhaps an item of that."""
        match source:
            case ast.Name() if depth < _DEPTH:
                found = self._bindings.reaching(source)
                values = [each.value for each in found if each.form is Form.ASSIGNMENT]
                return len(found) == 1 == len(values) and isinstance(values[0], ast.Call) and self._is_of_layer(values[0])
            case ast.Call(func=ast.Attribute(value=owner) as layer):
                kind = self._semantics.kind(layer)
                is_layer = kind.type is Type.MODULE and kind.name.startswith("torch.nn.")
                return is_layer and self._facts.self_class(owner) is not None
        return False

    def _is_used_so_alone(self, source: ast.Name | ast.Call, function: Function) -> bool:
        """Whether a value is used nowhere but where it is made an array: whoever also uses it as it is knows why."""
        if isinstance(source, ast.Call):
            return True
        [binding] = self._bindings.reaching(source)
        return all(self._is_left(use) for use in binding.uses if self._tree.inside(use, function))

    def _is_left(self, use: ast.expr) -> bool:
        """Whether a use is made an array, or asks for a size."""
        while True:
            parent = self._tree.parent(use)
            match parent:
                case ast.Attribute(attr=name) if name in _SIZES:
                    return True
                case ast.Attribute(attr=name) if name in _LEAVING:
                    return True
                case ast.Attribute() | ast.Call() if isinstance(parent, ast.Attribute) or parent.func is use:
                    use = parent
                case ast.Subscript(value=inner) if inner is use:
                    use = parent
                case _:
                    return False

    def _goes_on(self, value: ast.expr, function: Function, depth: int) -> bool:
        """Whether a tensor goes into a layer of the module, as it is or computed with."""
        for parent in self._tree.ancestors(value):
            match parent:
                case ast.Call(func=ast.Attribute(value=owner) as called) if self._tree.inside(value, called):
                    continue  # a method of the value
                case ast.Call(func=ast.Attribute(value=owner) as called) if self._facts.self_class(owner) is not None:
                    if self._semantics.kind(called).type is Type.MODULE:
                        return True
                case ast.Call() if last_name(parent.func) in ("detach", "print", "append", "isinstance", "len"):
                    return False
                case ast.Compare() | ast.Return() | ast.Lambda():
                    return False
                case ast.Assign(targets=[ast.Name() as target]):
                    binding = self._bindings.of(target)
                    uses = binding.uses if binding is not None and depth < _DEPTH else ()
                    return any(self._goes_on(use, function, depth + 1) for use in uses)
                case ast.stmt():
                    return False
        return False
