"""The words of a file's code: its names, and what its strings say; comments are no part of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics.code.tree import Tree

_WORD = re.compile(r"\w+")
_WORDS_ONLY = bytes(byte if chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(128)) + bytes(128)
"""Leaves of a text in ASCII its words."""
_HOLD_TEXT = frozenset(
    {"id", "attr", "arg", "name", "asname", "module", "names", "rest", "kwd_attrs", "str", "tag", "type_comment", "kind"}
)
"""The fields of `ast` that hold text in nodes of any type, those of newer Pythons among them; others hold nodes."""


class _TextFields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of a node type that may hold text."""

    def __missing__(self, node_type: type[ast.AST]) -> tuple[str, ...]:
        self[node_type] = found = tuple(field for field in node_type._fields if field in _HOLD_TEXT)
        return found


_TEXT_FIELDS = _TextFields()
_READ_ABOVE = {ast.Name, ast.Attribute, ast.Constant}
"""The types of most nodes: their texts are read without a look at their fields."""


class Words:
    """The words of a file: for questions about what it speaks of at all."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._spoken: dict[str, bool] = {}
        self._matched: dict[re.Pattern[str], bool] = {}

    @cached_property
    def all(self) -> frozenset[str]:
        """Every name that the code says, dotted ones by their parts, and every word inside a string constant."""
        found: set[str] = set()
        plain: list[bytes] = []
        for text in {*self._texts()}:
            if not text.isascii():
                found.update(_WORD.findall(text))
            elif text.isidentifier():
                found.add(text)
            else:
                plain.append(text.encode("ascii"))
        found.update(b" ".join(plain).translate(_WORDS_ONLY).decode("ascii").split(" "))  # much faster than a pattern
        return frozenset(found - {""})

    def speak_of(self, part: str) -> bool:
        """Whether any word has ``part`` in it."""
        if part not in self._spoken:
            self._spoken[part] = any(part in word for word in self.all)
        return self._spoken[part]

    def match(self, pattern: re.Pattern[str]) -> bool:
        """Whether ``pattern`` is found in any word."""
        if pattern not in self._matched:
            self._matched[pattern] = any(pattern.search(word) for word in self.all)
        return self._matched[pattern]

    def _texts(self) -> Iterator[str]:
        """What the tree holds as text: nothing but names and the values of string constants."""
        yield from {name.id for name in self._tree.of_type(ast.Name)}
        yield from {attribute.attr for attribute in self._tree.of_type(ast.Attribute)}
        yield from [node.value for node in self._tree.of_type(ast.Constant) if isinstance(node.value, str)]
        for node_type in self._tree.types - _READ_ABOVE:
            for field in _TEXT_FIELDS[node_type]:
                for node in self._tree.of_type(node_type):
                    value = getattr(node, field, None)
                    if isinstance(value, str):
                        yield value
                    elif isinstance(value, list):
                        yield from [item for item in value if isinstance(item, str)]
