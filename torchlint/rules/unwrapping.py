"""Taking a call away and leaving its argument."""

from __future__ import annotations

import ast
import re
from typing import TypeGuard

from torchlint.fixes.rewriting import Rewriter, TextEdit, parses_alone
from torchlint.semantics import Semantics
from torchlint.text.source import Source

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.ListComp, ast.Dict, ast.Constant)
_BRACKETED = (ast.Call, ast.keyword, ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp)
_ROOMY = (*_BRACKETED, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr, ast.Tuple)
"""What may hold any expression as it is, without parentheses around it."""


class Unwrapper:
    """Makes the edits to one file."""

    def __init__(self, source: Source, semantics: Semantics, rewriter: Rewriter) -> None:
        self._source = source
        self._semantics = semantics
        self._rewriter = rewriter

    def unwrap(self, call: ast.Call, data: ast.expr, suffix: str = "") -> list[TextEdit] | None:
        """The edits that leave ``data`` of ``call`` with ``suffix`` behind it, in the place of a ``.data``.

        The parentheses of the call stay where the expression needs them or comments stand in them. ``None`` where it
        cannot be done.
        """
        text, start, end = self._source.text, self._source.start(call), self._source.end(call)
        if "#" in text[self._source.end(call.func) : self._source.start(data)] + text[self._source.end(data) : end]:
            return self._unwrap_among_comments(call, data, suffix)
        data_start, data_end = self._inner_span(call, data)
        bare = (data_start, data_end) == (self._source.start(data), self._source.end(data))
        opening, closing = ("(", ")") if bare and self._needs_parentheses(call, data, suffix) else ("", "")
        if bare and suffix and is_data(data):
            data_end = self._rewriter.attribute_span(data)[0]
        edits = [(start, data_start, opening), (data_end, end, closing + suffix)]
        return edits + self._realign(call, data, data_start, data_end, len(opening))

    def _unwrap_among_comments(self, call: ast.Call, data: ast.expr, suffix: str) -> list[TextEdit] | None:
        """The same with the call's own parentheses and the comments in them left; ``None`` if the data has its own as well."""
        text, function_end, end = self._source.text, self._source.end(call.func), self._source.end(call)
        before = re.sub("#.*", "", text[function_end : self._source.start(data)])
        if before.count("(") > 1 or not call.args:
            return None
        comments = _comments(text[self._source.end(data) : end], self._source.newline)
        data_end = self._rewriter.attribute_span(data)[0] if suffix and is_data(data) else self._source.end(data)
        return [(self._source.start(call), function_end, ""), (data_end, end, f"{comments}){suffix}")]

    def _inner_span(self, call: ast.Call, data: ast.expr) -> tuple[int, int]:
        """The span of the wrapped expression, with the parentheses of its own around it."""
        if call.args:
            return self._rewriter.argument_span(call, data)
        return self._source.start(data), self._source.end(data)

    def _needs_parentheses(self, call: ast.Call, data: ast.expr, suffix: str) -> bool:
        parent = self._semantics.tree.parent(call)
        is_function = isinstance(parent, ast.Call) and parent.func is call
        if (is_function or not isinstance(parent, _BRACKETED)) and not parses_alone(self._source.segment(data)):
            return True
        if isinstance(data, _ATOMS):
            return isinstance(data, ast.Constant) and bool(suffix)
        if suffix or is_function or isinstance(data, ast.NamedExpr):
            return True
        return not isinstance(parent, _ROOMY)

    def _realign(self, call: ast.Call, data: ast.expr, start: int, end: int, shift: int) -> list[TextEdit]:
        """Moves the further lines of the wrapped expression along with its first line.

        Lines that are aligned with something in the first one move as far as it moves; lines that hang from a bracket at
        its end move only where the first line was itself one below the call's.
        """
        first, last = self._source.location(start), self._source.location(end).row
        inner, outer = first.column - 1, self._source.location(self._source.start(call)).column - 1 + shift
        if self._source.line(first.row).rstrip().endswith(("(", "[", "{")):
            inner, outer = (len(_indentation(self._source.line(row))) for row in (first.row, call.lineno))
        strings = self._rows_inside_strings(data)
        rows = [row for row in range(first.row + 1, last + 1) if row not in strings and self._source.line(row).strip()]
        indentations = [_indentation(self._source.line(row)) for row in rows]
        if any(len(indentation) < inner or len(set(indentation[:inner])) > 1 for indentation in indentations):
            return []
        starts = [self._source.line_start(row) for row in rows]
        if inner > outer:
            return [(place, place + inner - outer, "") for place in starts]
        return [(place, place, " " * (outer - inner)) for place in starts if outer > inner]

    @staticmethod
    def _rows_inside_strings(data: ast.expr) -> set[int]:
        strings = [node for node in ast.walk(data) if isinstance(node, (ast.Constant, ast.JoinedStr))]
        return {row for node in strings for row in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)}


def is_data(node: ast.expr) -> TypeGuard[ast.Attribute]:
    """Whether a node is ``x.data``."""
    return isinstance(node, ast.Attribute) and node.attr == "data"


def _comments(text: str, newline: str) -> str:
    """The comments behind the argument of a call, on their lines, and the white space before its closing parenthesis."""
    first, *lines = re.split(r"\r\n|\r|\n", text.removesuffix(")"))
    kept = [f"  {first[first.index('#') :]}" if "#" in first else ""]
    kept += [_indentation(line) + line[line.index("#") :] for line in lines[:-1] if "#" in line]
    kept += [_indentation(line) for line in lines[-1:]]
    return newline.join(kept)


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
