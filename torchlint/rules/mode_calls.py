"""Edits that put a model into a mode: ``model.eval()`` and ``model.train()`` on lines of their own."""

from __future__ import annotations

import ast

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.semantics.code.tree import Function
from torchlint.text.source import Source


class ModeCalls:
    """Inserts statements in front of others, behind them, or at the start of functions."""

    def __init__(self, source: Source, rewriter: Rewriter) -> None:
        self._source = source
        self._rewriter = rewriter

    def before(self, statement: ast.stmt, code: str) -> TextEdit | None:
        """Puts ``code`` on a line of its own in front of a statement; ``None`` where that starts no line."""
        if not self._rewriter.stands_alone(statement):
            return None
        place = self._source.line_start(statement.lineno)
        return (place, place, f"{self._rewriter.indentation(statement)}{code}{self._source.newline}")

    def behind(self, statement: ast.stmt, code: str) -> TextEdit | None:
        """Puts ``code`` on a line of its own behind a statement; ``None`` where that does not end its line."""
        if not self._rewriter.stands_alone(statement):
            return None
        assert statement.end_lineno is not None
        place = self._source.line_span(statement.end_lineno)[1]
        return (place, place, f"{self._source.newline}{self._rewriter.indentation(statement)}{code}")

    def first(self, function: Function, code: str) -> TextEdit | None:
        """Makes ``code`` the first statement of a function, behind its docstring."""
        body = function.body
        match body[0]:
            case ast.Expr(value=ast.Constant(value=str())):
                return self.behind(body[0], code) if len(body) == 1 else self.before(body[1], code)
        return self.before(body[0], code)

    def last(self, function: Function, code: str) -> TextEdit | None:
        """Makes ``code`` the last statement of a function, in front of the ``return`` that it ends with."""
        end = function.body[-1]
        return self.before(end, code) if isinstance(end, ast.Return) else self.behind(end, code)
