"""Names that are keywords by now: ``async`` and ``await``, which were none until Python 3.6.

Code of that time is read with a name of as many letters in the place of each, so that all nodes stand where they stood. Then
the tree gets the names as they are written, but for ``x.cuda(async=True)``: torch 0.3's ``async`` is ``non_blocking`` by now.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from torchlint.text.pythons.scanner import Token

MENTIONED = rb"\b(?:async|await)\b"

_COPYING = frozenset({"copy_", "cuda", "to", "type"})
"""The methods of tensors and modules that have taken ``async``."""
_NAMES_BEHIND = frozenset({b".", b"def", b"class", b"import", b"global", b"nonlocal"})
_BEHIND_ASYNC = frozenset({b"def", b"for", b"with"})
_OPERATORS = frozenset({b"and", b"as", b"else", b"for", b"if", b"in", b"is", b"not", b"or"})
_OPERAND = re.compile(rb"""[\w\x80-\xff("'\[{]|f["']|\.\d""")


def older_names(tokens: Sequence[Token]) -> Iterator[tuple[int, bytes]]:
    """Where ``async`` and ``await`` are names, not keywords, and which of them it is."""
    before = b"\n"
    for index, token in enumerate(tokens):
        if token.text in (b"async", b"await"):
            behind = tokens[index + 1].text if index + 1 < len(tokens) else b"\n"
            if before in _NAMES_BEHIND or not _is_keyword(token, before, behind):
                yield token.start, token.text
        before = token.text


def _is_keyword(token: Token, before: bytes, behind: bytes) -> bool:
    if token.text == b"await":
        return behind not in _OPERATORS and _OPERAND.match(behind) is not None
    if behind not in _BEHIND_ASYNC:
        return False
    if not token.depth:
        return behind != b"for" or before in (b"\n", b";", b":")
    return behind == b"for" and (before in (b")", b"]", b"}") or re.match(rb"""[\w\x80-\xff"']|f["']""", before) is not None)


def with_stand_ins(data: bytes, names: Iterable[tuple[int, bytes]]) -> tuple[bytes, dict[str, str]]:
    """The text with other names in the place of these, which it has nowhere else, and what each of them stands for."""
    chosen = {word: _unused(word, data) for _, word in names}
    code = bytearray(data)
    for start, word in names:
        code[start : start + len(word)] = chosen[word]
    return bytes(code), {new.decode(): word.decode() for word, new in chosen.items()}


def _unused(word: bytes, data: bytes) -> bytes:
    """A name of as many letters that does not occur in ``data``."""
    letters = b"abcdefghijklmnopqrstuvwxyz0123456789_"
    candidates = (word[:2] + bytes(last) for last in _triples(letters))
    return next((each for each in candidates if each not in data), word)


def _triples(letters: bytes) -> Iterator[tuple[int, int, int]]:
    return ((a, b, c) for a in reversed(letters) for b in reversed(letters) for c in reversed(letters))


def restore(tree: ast.AST, stand_ins: Mapping[str, str]) -> None:
    """Gives the nodes of ``tree`` the names that are written, and `non_blocking` to what is meant by it."""
    pattern = re.compile("|".join(map(re.escape, stand_ins)))

    def restored(value: object) -> object:
        return pattern.sub(lambda match: stand_ins[match[0]], value) if isinstance(value, str) else value

    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, str):
                setattr(node, name, restored(value))
            elif isinstance(value, list) and value and isinstance(value[0], str):  # of `global`
                value[:] = map(restored, value)
    own = {each.name for each in ast.walk(tree) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and _takes(each)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COPYING - own:
            for given in node.keywords:
                given.arg = "non_blocking" if given.arg == "async" else given.arg


def _takes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function has a parameter of its own called ``async``."""
    arguments = function.args
    return any(each.arg == "async" for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))
