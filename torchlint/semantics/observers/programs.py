"""Whether a file is a program that runs as soon as it is imported, so that no other file imports from it."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics


class Programs:
    """Tells what importing a file does."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def is_program(self) -> Fact:
        """Whether the top level of the file trains something, in no function and behind no look at ``__name__``."""
        calls = self._semantics.facts.calls.get("backward", ())
        return CERTAIN if any(map(self._runs_on_import, calls)) else unknown("another file may import the name from this one")

    def _runs_on_import(self, call: ast.Call) -> bool:
        tree = self._semantics.tree
        if tree.function(call) is not None or any(isinstance(parent, ast.ClassDef) for parent in tree.ancestors(call)):
            return False
        branches = [parent for parent in tree.ancestors(call) if isinstance(parent, ast.If)]
        return not any(part.id == "__name__" for each in branches for part in ast.walk(each.test) if isinstance(part, ast.Name))
