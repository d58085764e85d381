"""The syntax trees of the files that were parsed last, and what is asked of them."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from torchlint.project.calling import lines_with
from torchlint.text.headroom import recursion_headroom

if TYPE_CHECKING:
    from torchlint.semantics.summaries.calls import CallSummary
    from torchlint.semantics.summaries.summary import ClassBody, Summary

_MOST_KEPT = 224 * 1024
"""Of so many bytes of text trees are kept; a tree takes some thirty times its text."""
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Trees:
    """Parses texts, each once for all that is asked of it while it is among the last ones."""

    def __init__(self) -> None:
        self._kept: dict[bytes, ast.Module] = {}
        """The last one asked for is the last."""
        self._size = 0

    def summary(self, data: bytes, *, is_stub: bool) -> tuple[Summary, str]:
        """What a text says, or a stub, and the digest of that; nothing where it cannot be read."""
        from torchlint.semantics.summaries.making import summary_of
        from torchlint.semantics.summaries.summary import EMPTY

        try:
            with recursion_headroom():
                summary = summary_of(self.of(data), is_stub=is_stub)
        except _UNREADABLE:
            return EMPTY, ""
        return summary, summary.digest

    def body(self, data: bytes, name: str) -> ClassBody:
        """What the code in a text says of a class; nothing where it cannot be read."""
        from torchlint.semantics.summaries.bodies import body_of
        from torchlint.semantics.summaries.summary import UNTOLD

        try:
            with recursion_headroom():
                return body_of(self.of(data), name)
        except _UNREADABLE:
            return UNTOLD

    def calls(self, data: bytes, name: str) -> tuple[CallSummary, ...]:
        """The calls of something called so in a text; none where it cannot be read."""
        from torchlint.semantics.summaries.calls import calls_of

        try:
            with recursion_headroom():
                return calls_of(self.of(data), name, lambda names: lines_with(names, data))
        except _UNREADABLE:
            return ()

    def of(self, data: bytes) -> ast.Module:
        """The tree of a text, to be read; raises what the parser does."""
        tree = self.kept(data)
        if tree is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(data)
        self.keep(data, tree)
        return tree

    def kept(self, data: bytes) -> ast.Module | None:
        """The tree of a text, to be read, if there is one."""
        return self._kept.get(data)

    def keep(self, data: bytes, tree: ast.Module) -> None:
        """Keeps a text's tree as the last one that was asked for."""
        if self._kept.pop(data, None) is None:
            self._size += len(data)
        self._kept[data] = tree
        while self._size > _MOST_KEPT:
            first = next(iter(self._kept))
            del self._kept[first]
            self._size -= len(first)
