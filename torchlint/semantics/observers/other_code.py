"""Whether code that the file does not show may take notice: what it imports beside libraries whose ways are known."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.observers.libraries import READING_NO_ATTRIBUTES
from torchlint.semantics.observers.reflection import Reflection


class OtherCode:
    """Tells whether what the file does to objects can be seen by code of the same project elsewhere."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def reads_nothing(self, name: str) -> Fact:
        """Whether nobody reads the attribute ``name`` of what the file makes otherwise than by writing the name down.

        No other file does: it imports none of the project. Nor does the file itself, as by ``vars()``.
        """
        if self._strangers:
            return unknown(f"code of `{self._strangers[0]}` may read `{name}`")
        return self._semantics.of(Reflection).reads_no_attributes

    @cached_property
    def _strangers(self) -> list[str]:
        """The modules of the project, and libraries of unknown ways, that the file imports."""
        own = {"." * node.level + (node.module or "") for node in self._semantics.tree.of_type(ast.ImportFrom) if node.level}
        return sorted(own | (self._semantics.names.imported_libraries - READING_NO_ATTRIBUTES))
