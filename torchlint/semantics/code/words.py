"""The words of a file's code: its names, and what its strings say; comments are no part of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics.code.tree import Tree

_WORD = re.compile(r"\w+")


class Words:
    """The words of a file: for questions about what it speaks of at all."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @cached_property
    def all(self) -> frozenset[str]:
        """Every name that the code says, dotted ones by their parts, and every word inside a string constant."""
        return frozenset(word for text in {*self._texts()} for word in _WORD.findall(text))

    def speak_of(self, part: str) -> bool:
        """Whether any word has ``part`` in it."""
        return any(part in word for word in self.all)

    def match(self, pattern: re.Pattern[str]) -> bool:
        """Whether ``pattern`` is found in any word."""
        return any(pattern.search(word) for word in self.all)

    def _texts(self) -> Iterator[str]:
        """What the tree holds as text: nothing but names and the values of string constants."""
        for node in self._tree.nodes:
            if isinstance(node, ast.Constant):
                if isinstance(node.value, str):
                    yield node.value
                continue
            for field in node._fields:
                value = getattr(node, field, None)
                if isinstance(value, str):
                    yield value
                elif isinstance(value, list):
                    yield from [item for item in value if isinstance(item, str)]
