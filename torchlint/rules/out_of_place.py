"""Edits that make a change in place one out of place."""

from __future__ import annotations

import ast

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.semantics import Semantics, torch_api
from torchlint.text.source import Source

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
"""The operators whose augmented assignments change a tensor in place."""
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


class OutOfPlace:
    """Makes edits to one file."""

    def __init__(self, source: Source, semantics: Semantics, rewriter: Rewriter) -> None:
        self._source = source
        self._semantics = semantics
        self._rewriter = rewriter
        self._cloned: dict[tuple[str, int], ast.stmt] = {}
        """For each variable and block, the first change that is made on a clone: later ones need no other."""

    def edits(self, statement: ast.stmt, change: ast.expr | ast.stmt, name: str) -> list[TextEdit] | None:
        """Makes ``change``, a part of ``statement``, on a new tensor called ``name``; ``None`` where that does not fit."""
        match statement:
            case ast.AugAssign(target=ast.Name() as target, op=operator, value=value):
                return self._operation(target, OPERATORS[type(operator)], value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name()) as function) as call) if change is call:
                if _has_twin(function.attr):
                    start = self._source.start(call)
                    return [(start, start, f"{name} = "), self._drop_underscore(function)]
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call(func=ast.Attribute() as function) as call):
                if change is call and target == name and isinstance(function.value, ast.Name) and _has_twin(function.attr):
                    return [self._drop_underscore(function)]
        return self._clone_before(statement, name)

    def _drop_underscore(self, function: ast.Attribute) -> TextEdit:
        end = self._source.end(function)
        return (end - 1, end, "")

    def _operation(self, target: ast.Name, operator: str, value: ast.expr) -> list[TextEdit]:
        """Makes ``y = y * value`` of ``y *= value``."""
        text, end = self._source.text, self._source.end(target)
        start = text.index(f"{operator}=", end) + len(operator) + 1
        while text[start] in " \t\\\r\n":
            start += 1
        head = f" = {target.id} {operator} "
        if isinstance(value, _ATOMS) or start < self._source.start(value):
            return [(end, start, head)]
        return [(end, start, f"{head}("), (self._source.end(value), self._source.end(value), ")")]

    def _clone_before(self, statement: ast.stmt, name: str) -> list[TextEdit] | None:
        """Changes a clone: the change itself stays as it is."""
        if not self._rewriter.stands_alone(statement) or not isinstance(
            statement, (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)
        ):
            return None
        first = self._cloned.setdefault((name, id(self._semantics.tree.block(statement))), statement)
        place = self._source.start(first)
        return [(place, place, f"{name} = {name}.clone(){self._source.newline}{self._rewriter.indentation(first)}")]

    def without_flag(self, call: ast.Call, argument: ast.keyword | ast.expr) -> TextEdit:
        """Takes the ``inplace=True`` out of a call."""
        if isinstance(argument, ast.keyword):
            return self._rewriter.delete_argument(call, argument)
        return (self._source.start(argument), self._source.end(argument), "False")


def _has_twin(method: str) -> bool:
    """Whether an in-place method has one that does the same out of place."""
    return method.removesuffix("_") in torch_api.TENSOR_METHODS
