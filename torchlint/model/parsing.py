"""Text to libcst trees, names that are keywords by now among it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import libcst as cst

from torchlint.text.source import parse


def parsed_module(text: str, stand_ins: Mapping[str, str]) -> cst.Module:
    """The tree of a text in which ``stand_ins`` stand for names that libcst takes for keywords; the tree has those names."""
    module = cst.parse_module(text)
    return module.visit(_Restoring(stand_ins)) if any(name in text for name in stand_ins) else module


def parsed_expression(code: str) -> cst.BaseExpression:
    """The tree of an expression."""
    try:
        return cst.parse_expression(code)
    except cst.ParserSyntaxError as error:
        try:
            found = parse(code)
        except SyntaxError:
            raise error from None
        if isinstance(found, ast.Module) or not found.stand_ins:
            raise
        restored = cst.parse_expression(found.parsable).visit(_Restoring(found.stand_ins))
        assert isinstance(restored, cst.BaseExpression)
        return restored


def _needs_space(node: cst.Asynchronous) -> None:
    """libcst's check of what stands behind ``async``, less a mistake: in brackets a line may end there, as in ``[y async``."""
    if isinstance(node.whitespace_after, cst.SimpleWhitespace) and node.whitespace_after.empty:
        raise cst.CSTValidationError("there must be at least one space after async")


cst.Asynchronous._validate = _needs_space  # type: ignore[assignment]


class _Restoring(cst.CSTTransformer):
    def __init__(self, stand_ins: Mapping[str, str]) -> None:
        super().__init__()
        self._stand_ins = stand_ins

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        name = self._stand_ins.get(updated_node.value)
        return updated_node if name is None else updated_node.with_changes(value=name)
