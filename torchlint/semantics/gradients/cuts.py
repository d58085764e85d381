"""What a value is made of, behind all that cuts it off from its graph: ``.data``, ``.item()``, NumPy, ``torch.tensor(…)``."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from torchlint.semantics import Basis, Binding, Form, Grad, Semantics, torch_api

VARIABLE = "torch.autograd.Variable"
_WRAPPERS = frozenset(
    {
        *("torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.Tensor", "torch.FloatTensor", VARIABLE),
        *("numpy.array", "numpy.asarray", "builtins.float"),
    }
)
"""Functions that make something new of what they are given, without its graph where they do not return the very thing."""
_CUTS = frozenset({"detach", "numpy", "item", "tolist"})
_MOVES = frozenset({"cpu", "cuda", "to", "type", "type_as", "float", "double", "half", "clone", "contiguous", "detach"})
_DATA = re.compile(r"numpy\.(random|zeros|ones|full|linspace|arange|array|asarray)|random\.|torch\.(rand|randn|randint|normal)")
_DEPTH = 4
"""Through so many names a value is followed to what it is made of."""


@dataclass(frozen=True, eq=False, slots=True)
class Uncut:
    """A value less all that cuts it off from its graph: the ``whole`` tensor, and the items taken of it, innermost first."""

    whole: ast.expr
    items: tuple[ast.Subscript, ...] = ()


class Cuts:
    """Tells where values of a file are from."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._bindings = semantics.bindings

    def source(self, value: ast.expr) -> ast.expr | None:
        """The expression with a graph that ``value`` is made of, behind all that cuts it off; ``None`` where none is seen."""
        seen: set[ast.expr] = set()
        while value not in seen:
            seen.add(value)
            if self._carries_graph(value):
                return value
            inner = self._inner(value)
            if inner is None:
                return None
            value = inner
        return None

    def argument(self, value: ast.expr) -> ast.arg | None:
        """The parameter of a function whose values went through NumPy to make ``value``, cut off from whatever graph it had.

        ``torch.from_numpy(out.cpu().data.numpy()[i])``: nobody cuts off and copies what has no graph to lose.
        """
        seen: list[ast.expr] = []
        inner: ast.expr | None = value
        while inner is not None and inner not in seen:
            seen.append(inner)
            if isinstance(inner, ast.Name):
                [*_, binding] = self._bindings.reaching(inner) or (None,)
                if binding is not None and binding.form is Form.PARAMETER and isinstance(binding.node, ast.arg):
                    return binding.node if _goes_through_numpy(seen) else None
            inner = self._inner(inner)
        return None

    def uncut(self, value: ast.expr) -> Uncut | None:
        """A value less all that cuts it off from its graph; ``None`` where it went through what is not a tensor's."""
        match value:
            case ast.Call(func=ast.Attribute(attr="cpu", value=inner)):
                return self.uncut(inner)  # a stop on the way to NumPy
            case _ if self._is_whole(value):
                return Uncut(value)
            case ast.Attribute(attr="data", value=inner):
                return self.uncut(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) as call if not self._is_api(call):
                return self.uncut(inner) if method in _CUTS | _MOVES else None
            case ast.Call(args=[inner]) as call if self._wraps(call):
                return self.uncut(inner)
            case ast.Subscript(value=inner) as item:
                found = self.uncut(inner)
                return Uncut(found.whole, (*found.items, item)) if found is not None else None
        return None

    def is_on_purpose(self, value: ast.expr) -> bool:
        """Whether the last thing done to a value says that its graph is to be left behind."""
        match value:
            case ast.Attribute(attr="data") | ast.Call(func=ast.Attribute(attr="detach")):
                return True
        return False

    def is_data(self, value: ast.expr, depth: int = 0) -> bool:
        """Whether a value is not computed from anything: a number, a new tensor, an item of a loader."""
        match value:
            case ast.Constant() | ast.Lambda() | ast.Compare():
                return True
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return bool(elements) and all(self.is_data(element, depth) for element in elements)  # an empty one is filled
            case ast.UnaryOp(operand=operand):
                return self.is_data(operand, depth)
            case ast.BinOp(left=left, right=right):
                return self.is_data(left, depth) and self.is_data(right, depth)
            case ast.Call() if self._makes_data(value, depth):
                return True
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if method in _MOVES:
                return self.is_data(receiver, depth)
            case ast.Name() if depth < _DEPTH:
                bindings = self._bindings.reaching(value)
                if not bindings or any(binding.form in (Form.LOOP, Form.CONTEXT) for binding in bindings):
                    return True
                return all(self._is_bound_to_data(binding, depth + 1) for binding in bindings)
        return self._semantics.kind(value).basis is Basis.BATCH

    def _is_bound_to_data(self, binding: Binding, depth: int) -> bool:
        if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None:
            return False
        return self.is_data(binding.value, depth)

    def _makes_data(self, call: ast.Call, depth: int) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if _DATA.match(name) or name in torch_api.FACTORIES or name == VARIABLE:
            return all(self.is_data(argument, depth) for argument in call.args)
        return False

    # --- the way back ------------------------------------------------------------------------------------------------

    def _inner(self, value: ast.expr) -> ast.expr | None:
        """What a value was made of, one step back; ``None`` where that is not one value."""
        match value:
            case ast.Attribute(attr="data", value=inner) | ast.Subscript(value=inner):
                return inner
            case ast.List(elts=[inner]) | ast.UnaryOp(operand=inner):
                return inner
            case ast.Call(func=ast.Attribute(value=inner)) as call if not self._is_api(call):
                return inner
            case ast.Call(args=[inner, *_]) as call if self._wraps(call):
                return inner
            case ast.Name():
                return self._bound(value)
        return None

    def _bound(self, name: ast.Name) -> ast.expr | None:
        """What a name is bound to, if that is certain and does not say the name itself."""
        value = self._bindings.assigned(name)
        mentions = value is not None and any(isinstance(part, ast.Name) and part.id == name.id for part in ast.walk(value))
        return None if mentions else value

    def _carries_graph(self, node: ast.expr) -> bool:
        """Whether a value carries graph by what it is made of, not only because it is back-propagated."""
        if not isinstance(node, ast.Name):
            return self._semantics.kind(node).carries_graph
        for binding in self._bindings.reaching(node):
            if binding.form is Form.AUGMENTED or binding.path:
                kind = self._semantics.inference.binding_kind(binding)
            elif binding.form is Form.ASSIGNMENT and binding.value is not None:
                kind = self._semantics.kind(binding.value)
            else:
                continue
            if kind.carries_graph:
                return True
        return False

    def _is_whole(self, value: ast.expr) -> bool:
        """Whether a value is a tensor that may have its graph, or a name that Variable would take for nothing else."""
        if self._carries_graph(value):
            return True
        kind = self._semantics.kind(value)
        if kind.known or not isinstance(value, ast.Name):
            return kind.is_tensor and kind.grad is not Grad.NONE
        parent = self._semantics.tree.parent(value)
        return isinstance(parent, ast.Call) and self._semantics.qualified_name(parent.func) == VARIABLE

    def _is_api(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func)
        return name is not None and not name.startswith("builtins.")

    def _wraps(self, call: ast.Call) -> bool:
        return self._semantics.qualified_name(call.func) in _WRAPPERS


def _goes_through_numpy(steps: list[ast.expr]) -> bool:
    """Whether a value is cut off, ``.data`` or ``.detach()``, and made an array, on its way."""
    methods = {step.func.attr for step in steps if isinstance(step, ast.Call) and isinstance(step.func, ast.Attribute)}
    is_cut = "detach" in methods or any(isinstance(step, ast.Attribute) and step.attr == "data" for step in steps)
    return is_cut and "numpy" in methods
