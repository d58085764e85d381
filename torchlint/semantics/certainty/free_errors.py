"""Errors that end the program: no code of the file awaits any."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import TRIES

_AWAITING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress", "allow_mutation_on_saved_tensors"})
"""What awaits an error, or makes one go away."""


class FreeErrors:
    """Tells whether any code of the file would take notice of an error, so that a fix that mends it changes more."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def fact(self) -> Fact:
        """Whether the file catches no error but those of imports."""
        tree, calls = self._semantics.tree, self._semantics.facts.calls
        tries = any(isinstance(node, TRIES) and node.handlers and not _only_imports(node) for node in tree.nodes)
        if tries or not _AWAITING.isdisjoint(calls):
            return unknown("the code awaits errors, and may decide by this one")
        return CERTAIN


def _only_imports(node: ast.Try | ast.AST) -> bool:
    return isinstance(node, ast.Try) and all(isinstance(each, (ast.Import, ast.ImportFrom)) for each in node.body)
