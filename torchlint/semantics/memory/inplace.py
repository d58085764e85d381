"""Changes in place: which tensor a change reaches, and which calls and modules of torch work in place."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics, torch_api

_VIEWS = torch_api.VIEW_METHODS - {"detach", "numpy"}
CLASSES = {
    **dict.fromkeys(("ReLU", "ReLU6", "SiLU", "SELU", "Mish", "Hardswish", "Hardsigmoid"), 0),
    **dict.fromkeys(("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"), 1),
    **dict.fromkeys(("LeakyReLU", "ELU", "CELU"), 1),
    **dict.fromkeys(("RReLU", "Hardtanh", "Threshold"), 2),
}
"""Classes of `torch.nn` that can work in place, and the position of the argument that makes them."""


class InplaceModules:
    """Finds the modules of a file that work in place."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def made(self) -> dict[ast.Call, ast.keyword | ast.expr]:
        """The calls that make such modules, and the argument that says so."""
        found: dict[ast.Call, ast.keyword | ast.expr] = {}
        for name, position in CLASSES.items():
            for call in self._semantics.facts.calls.get(name, ()):
                if self._semantics.qualified_name(call.func) == f"torch.nn.{name}":
                    argument = inplace_argument(call, position)
                    if argument is not None:
                        found[call] = argument
        return found

    def called(self, call: ast.Call) -> list[ast.Call]:
        """The calls that make the module that is called, if it works in place however it was made; else none."""
        if not self.made:
            return []
        values = [value.body if isinstance(value, ast.IfExp) else value for value in self._values(call.func)]
        calls = [value for value in values if isinstance(value, ast.Call) and value in self.made]
        return calls if len(calls) == len(values) else []

    def _values(self, function: ast.expr) -> list[ast.expr | None]:
        match function:
            case ast.Name() as name:
                return [binding.value for binding in self._semantics.bindings.reaching(name)]
            case ast.Attribute(value=owner, attr=attribute):
                own_class = self._semantics.facts.self_class(owner)
                slots = self._semantics.facts.slots(own_class, attribute) if own_class is not None else []
                return [getattr(self._semantics.tree.parent(store), "value", None) for slot in slots for store in slot.stores]
        return []


def inplace_argument(call: ast.Call, position: int | None = None) -> ast.keyword | ast.expr | None:
    """The ``inplace=True`` of a call, or the ``True`` at its position."""
    for word in call.keywords:
        if word.arg == "inplace" and _is_true(word.value):
            return word
    if position is not None and len(call.args) > position and _is_true(call.args[position]):
        return call.args[position]
    return None


def changed_tensor(node: ast.expr) -> ast.expr:
    """The tensor that a change of ``node`` changes: ``x`` of ``x[0]``, of ``x.view(-1)[1:]``."""
    while True:
        match node:
            case ast.Subscript(value=value):
                node = value
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in _VIEWS:
                node = value
            case _:
                return node


def shares_memory(node: ast.expr) -> bool:
    """Whether ``x[…]`` shares the memory of ``x``, as it does for numbers and slices, and not for masks and index tensors."""
    match node:
        case ast.Subscript(value=value, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            return all(isinstance(part, (ast.Slice, ast.Constant, ast.UnaryOp)) for part in parts) and shares_memory(value)
        case ast.Call(func=ast.Attribute(value=value)):
            return shares_memory(value)
    return True


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
