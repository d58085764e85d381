"""Weights that are held within bounds: given their own values, clamped or normalised, where no backward needs the old ones."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function, keyword, last_name

_BOUNDING = frozenset({"clamp", "clip", "clamp_min", "clamp_max"})
_KEEPING_FORM = frozenset({"abs", "relu", "normalize"})
"""Functions whose result has the form of what they are given, and that change nothing a second time."""
_OF_TORCH = ("torch.", "torch.nn.functional.")
_COPIES = frozenset({"clone", "detach", "contiguous"})
_NEAR = 8
"""So many of them are passed over on the way up to a step."""
_AROUND = (ast.For, ast.If, ast.With)


class ProjectedWeights:
    """Tells of assignments to the ``.data`` of tensors which only hold their values within bounds."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._projecting: dict[Function, bool] = {}

    def is_one(self, statement: ast.stmt) -> bool:
        """Whether a tensor is given its own values in the same form, behind a step or in a function that does no more.

        So ``w.data = F.normalize(w.data)`` and ``w.data = torch.clamp(w.data, -1, 1)``: nothing is computed with the old ones.
        """
        if not self._projects(statement):
            return False
        node: ast.AST = statement
        while isinstance(node, ast.stmt) and not isinstance(node, FUNCTIONS):
            if self._is_behind_step(node):
                return True
            parent = self._tree.parent(node)
            if isinstance(parent, FUNCTIONS):
                return self._only_projects(parent)
            if not isinstance(parent, _AROUND):
                return False
            node = parent
        return False

    def _is_behind_step(self, node: ast.stmt) -> bool:
        """Whether the statement above is a step of an optimizer, but for others that hold weights within bounds."""
        block = self._tree.block(node)
        place = block.index(node)
        for _ in range(_NEAR):
            if place and self._projects(block[place - 1]):
                place -= 1
        match block[place - 1] if place else None:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="step"))):
                return True
        return False

    def _only_projects(self, function: Function) -> bool:
        """Whether a function does nothing but hold weights within bounds."""
        if function not in self._projecting:
            self._projecting[function] = self._all_project(function.body)
        return self._projecting[function]

    def _all_project(self, body: list[ast.stmt]) -> bool:
        return all(
            self._projects(each)
            or isinstance(each, ast.Pass)
            or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            or (isinstance(each, _AROUND) and self._all_project([*each.body, *getattr(each, "orelse", ())]))
            for each in body
        )

    def _projects(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign(targets=[ast.Attribute(attr="data", value=tensor)], value=ast.Call() as value):
                return self._holds(value, ast.dump(tensor))
        return False

    def _holds(self, value: ast.expr, own: str) -> bool:
        """Whether a value is that of a tensor, held within bounds that are numbers."""
        match value:
            case ast.Call(func=ast.Attribute(value=owner, attr=method) as function, args=arguments):
                name = self._semantics.qualified_name(function) or ""
                if name.startswith(_OF_TORCH):
                    if not arguments or name.rpartition(".")[0] + "." not in _OF_TORCH:
                        return False
                    owner, arguments = arguments[0], arguments[1:]
            case ast.Call(func=ast.Name() as function, args=[owner, *arguments]):
                name = self._semantics.qualified_name(function) or ""
                method = last_name(function)
                if name not in {start + method for start in _OF_TORCH}:
                    return False
            case _:
                return False
        assert isinstance(value, ast.Call)
        if keyword(value, "out") is not None or any(each.arg is None for each in value.keywords):
            return False
        if method in _BOUNDING:
            bounds = [*arguments, *(each.value for each in value.keywords)]
            return all(self._is_number(each) for each in bounds) and self._is_own(owner, own)
        return method in _KEEPING_FORM and self._is_own(owner, own)

    def _is_number(self, bound: ast.expr) -> bool:
        return isinstance(bound, ast.Constant) or self._semantics.kind(bound).type is Type.NUMBER

    def _is_own(self, value: ast.expr, own: str) -> bool:
        """Whether a value is that of the tensor itself, or of it within other bounds."""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _COPIES:
            value = value.func.value
        if isinstance(value, ast.Call):
            return self._holds(value, own)
        if isinstance(value, ast.Attribute) and value.attr == "data":
            value = value.value
        return ast.dump(value) == own
