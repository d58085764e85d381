"""Whether a warning that goes is missed by nobody: no code of the file makes errors of warnings, or counts them."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import Fact, known, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, last_name

_NOTICING = frozenset(
    {"PYTHONWARNINGS", "captureWarnings", "showwarning", "formatwarning", "warnoptions", "recwarn", "assertWarns"}
)
"""Words of code that takes notice of warnings, or says which are errors."""
_AWAITING = frozenset({"warns", "assertWarns", "assertWarnsRegex", "deprecated_call"})
_QUIET = frozenset({"ignore", "default", "once", "module", "always"})
"""What a filter may do with a warning that still is none but a text on the terminal."""
_FILTERS = frozenset({"warnings.filterwarnings", "warnings.simplefilter"})
_FOR_USERS = frozenset({"builtins.UserWarning", "builtins.Warning"})
"""The classes of warnings that torch's are of."""
_HARMLESS = frozenset({"warnings.warn", "warnings.resetwarnings", "warnings.warn_explicit"})


class UnseenWarnings:
    """Tells whether the file takes notice of the warnings that torch gives, or its project makes errors or records of them.

    Beyond the project that is out of sight: there the warning is the hazard.
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
        is_noticed = self._semantics.elsewhere.speaks_of("errors of warnings") is True
        return known(not is_noticed, "another file of the project may take notice of the warning that goes")

    @cached_property
    def are_hidden(self) -> bool:
        """Whether the module hides all warnings that torch gives of a use of it, for the whole run, and shows none again."""
        calls = [call for name in ("filterwarnings", "simplefilter") for call in self._semantics.facts.calls.get(name, ())]
        filters = [call for call in calls if self._semantics.qualified_name(call.func) in _FILTERS]
        hiding = [call for call in filters if self._hides_all(call) and self._is_for_good(call)]
        return (
            bool(hiding)
            and all(_action(call) == "ignore" for call in filters)
            and "resetwarnings" not in self._semantics.words.all
        )

    def _hides_all(self, call: ast.Call) -> bool:
        """Whether a filter is told to hide warnings of any text and of any place, that are for users."""
        words = {word.arg: word.value for word in call.keywords}
        category = words.get("category", call.args[1] if len(call.args) > 1 else None)
        if last_name(call.func) == "filterwarnings":
            category = words.get("category", call.args[2] if len(call.args) > 2 else None)
            if len(call.args) > 1 and not (isinstance(call.args[1], ast.Constant) and call.args[1].value == ""):
                return False
        if not words.keys() <= {"action", "category"} or len(call.args) > 3:
            return False
        return category is None or self._semantics.qualified_name(category) in _FOR_USERS

    def _is_for_good(self, call: ast.Call) -> bool:
        """Whether the module itself calls, and in no context that takes a filter back."""
        around = list(self._tree.ancestors(call))
        return not any(isinstance(each, (*FUNCTIONS, ast.Lambda, ast.ClassDef, ast.With, ast.AsyncWith)) for each in around)

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
        return _action(call) in _QUIET


def _action(call: ast.Call) -> object:
    """What a filter is told to do with warnings, where that is written out."""
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg in ("action", None))]
    return given[0].value if len(given) == 1 and isinstance(given[0], ast.Constant) else None
