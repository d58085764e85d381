"""How statements are laid out on lines."""

from __future__ import annotations

import ast
import re

from torchlint.text.source import Source

_INDENTATION = re.compile(r"[ \t\f]*")


def indentation(source: Source, row: int) -> str:
    """The white space that a line starts with."""
    match = _INDENTATION.match(source.line(row))
    return match.group() if match else ""


def stands_alone(source: Source, statement: ast.stmt) -> bool:
    """Whether no other code is on the lines of a statement, so that it can be indented by itself."""
    assert statement.end_lineno is not None
    if getattr(statement, "decorator_list", None) or is_elif(source, statement):
        return False
    start, _ = source.line_span(statement.lineno)
    _, end = source.line_span(statement.end_lineno)
    before = source.text[start : source.start(statement)]
    after = source.text[source.end(statement) : end].strip()
    if statement.lineno > 1 and source.line(statement.lineno - 1).endswith("\\"):
        return False
    return not before.strip(" \t") and (not after or after.startswith("#"))


def is_elif(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement is an ``elif``."""
    return isinstance(statement, ast.If) and source.text.startswith("elif", source.start(statement))


def can_be_indented(source: Source, statement: ast.stmt) -> bool:
    """Whether what is put in front of the lines of a statement counts: of an indentation, a form feed voids the start."""
    rows = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    return not any("\f" in indentation(source, row) for row in rows)
