"""Edits of a call's arguments: adding a keyword, giving one another value."""

from __future__ import annotations

import ast
import re

from torchlint.fixes.rewriting import TextEdit
from torchlint.text.source import Source

_OWN_PARENTHESES = re.compile(r"(?:[ \t]*\))*")


def keyword_of(call: ast.Call, name: str) -> ast.keyword | None:
    """The keyword argument of ``call`` with that name."""
    return next((word for word in call.keywords if word.arg == name), None)


def is_open_ended(call: ast.Call) -> bool:
    """Whether a call unpacks arguments, so that nobody knows which it gives."""
    return any(word.arg is None for word in call.keywords) or any(isinstance(part, ast.Starred) for part in call.args)


def add_keywords(source: Source, call: ast.Call, words: str) -> TextEdit:
    """Adds keyword arguments behind the last one, in front of its trailing comma and comment."""
    parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    if not parts:
        place = source.end(call) - 1
        return (place, place, words)
    last = max(source.end(part) for part in parts)
    own = _OWN_PARENTHESES.match(source.text, last, source.end(call) - 1)
    assert own is not None
    return (own.end(), own.end(), f", {words}")


def set_keyword(source: Source, call: ast.Call, name: str, value: str) -> TextEdit:
    """Gives ``call`` the keyword argument ``name=value``, in the place of the one it has under that name."""
    word = keyword_of(call, name)
    if word is None:
        return add_keywords(source, call, f"{name}={value}")
    return (source.start(word.value), source.end(word.value), value)
