"""States whose keys the code holds against those of the module before it loads them."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import dotted, last_name
from torchlint.semantics.memory.origins import Origins

_COMPARES = re.compile(r"_*(check|compare|verify|validate|assert|match|report|remove|filter|align|show|print|log)(_|[A-Z]|\Z)")
"""What functions are called that look at keys, or choose them, where they are given a state and the module."""


class ComparedKeys:
    """Tells of calls of ``load_state_dict`` whether the keys were looked at before."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def holds(self, loading: ast.Call) -> bool:
        """Whether the function around a call compares keys: itself, with the module's state, or by a function that says so."""
        if not isinstance(loading.func, ast.Attribute) or not loading.args:
            return False
        module, place = dotted(loading.func.value), self._semantics.tree.function(loading)
        state = self._semantics.of(Origins).of(loading.args[0])
        calls = [each for group in self._semantics.facts.calls.values() for each in group if each is not loading]
        return module is not None and any(
            self._semantics.tree.function(call) is place
            and (call.lineno, call.col_offset) < (loading.end_lineno or 0, loading.end_col_offset or 0)
            and (self._asks_for_state(call, module) or (_given(call, module) and self._is_compared(call, state)))
            for call in calls
        )

    @staticmethod
    def _asks_for_state(call: ast.Call, module: str) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr == "state_dict" and dotted(call.func.value) == module

    def _is_compared(self, call: ast.Call, state: set[ast.expr]) -> bool:
        """Whether a function that looks at keys, by its name, is given the state, or the names that it is reached by."""
        names = {dotted(each) for each in state if isinstance(each, ast.Name)}
        return _COMPARES.match(last_name(call.func)) is not None and any(dotted(each) in names for each in call.args)


def _given(call: ast.Call, module: str) -> bool:
    return any(dotted(each) == module for each in call.args)
