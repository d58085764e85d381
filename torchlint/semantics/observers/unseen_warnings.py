"""Whether a warning that goes is missed by nobody: no code of the file makes errors of warnings, or counts them."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics

_NOTICING = frozenset(
    {"PYTHONWARNINGS", "captureWarnings", "showwarning", "formatwarning", "warnoptions", "recwarn", "assertWarns"}
)
"""Words of code that takes notice of warnings, or says which are errors."""
_AWAITING = frozenset({"warns", "assertWarns", "assertWarnsRegex", "deprecated_call"})
_QUIET = frozenset({"ignore", "default", "once", "module", "always"})
"""What a filter may do with a warning that still is none but a text on the terminal."""
_FILTERS = frozenset({"warnings.filterwarnings", "warnings.simplefilter"})
_HARMLESS = frozenset({"warnings.warn", "warnings.resetwarnings", "warnings.warn_explicit"})


class UnseenWarnings:
    """Tells whether the file takes notice of the warnings that torch gives.

    That another file makes errors of warnings is out of sight: there the warning is the hazard.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def fact(self) -> Fact:
        """Whether nothing takes notice of a warning, other than by having it not shown."""
        words = sorted(self._semantics.words.all & _NOTICING) or sorted(self._semantics.facts.calls.keys() & _AWAITING)
        if words:
            return unknown(f"`{words[0]}` may take notice of the warning that goes")
        for node in self._tree.nodes:
            if isinstance(node, (ast.Name, ast.Attribute)) and not self._is_quiet(node):
                return unknown(f"`{shortened(node)}` may take notice of the warning that goes")
        return CERTAIN

    def _is_quiet(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a name is not about warnings, or gives or hides some."""
        name, parent = self._semantics.qualified_name(node) or "", self._tree.parent(node)
        if name == "warnings" and isinstance(parent, ast.Attribute):
            return True  # what is taken of the module is a node by itself
        if name.startswith("builtins.") and name.endswith("Warning"):
            return not isinstance(parent, ast.ExceptHandler) and not self._is_caught(node)
        if name.partition(".")[0] != "warnings":
            return True
        if not isinstance(parent, ast.Call) or parent.func is not node:
            return False
        return name in _HARMLESS or (name in _FILTERS and self._hides(parent))

    def _is_caught(self, node: ast.expr) -> bool:
        parent = self._tree.parent(node)
        return isinstance(parent, ast.Tuple) and isinstance(self._tree.parent(parent), ast.ExceptHandler)

    @staticmethod
    def _hides(call: ast.Call) -> bool:
        """Whether a filter is told to do nothing but show warnings, or hide them."""
        given = [*call.args[:1], *(word.value for word in call.keywords if word.arg in ("action", None))]
        return len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value in _QUIET
