"""Calls of torch and its libraries that give what is deprecated or removed, or leave out what is to be given."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.apis.deprecations import Deprecation, deprecation, parameters
from torchlint.semantics.apis.spellings import Spellings


class DeprecatedArguments:
    """Finds them, without a look at calls of what does not sound like a function of the table."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def found(self) -> dict[ast.Call, tuple[tuple[str, str], ...]]:
        """The calls, each with the functions and parameters that the table knows them by."""
        table = parameters()
        calls = self._semantics.of(Spellings).calls(frozenset(name.rpartition(".")[2] for name in table))
        uses: dict[ast.Call, tuple[tuple[str, str], ...]] = {}
        for call in calls:
            symbol = self._semantics.qualified_name(call.func) or ""
            if used := tuple((symbol, each) for each in table.get(symbol, ()) if _is_used(call, deprecation(symbol, each))):
                uses[call] = used
        return uses


def _is_used(call: ast.Call, row: Deprecation) -> bool:
    """Whether a call is one that a row of the table speaks of."""
    value = next((each.value for each in call.keywords if each.arg == row.parameter), None)
    if value is None and row.place.isdigit():
        value = _at(call, int(row.place))
    match row.when:
        case "given":
            is_nothing = isinstance(value, ast.Constant) and (value.value is None or (value.value is False and not row.removed))
            return value is not None and not is_nothing
        case "missing":
            return value is None and not _is_open_ended(call, row)
        case condition if condition.startswith("="):
            return value is not None and ast.unparse(value) == condition[1:]
    return False


def _at(call: ast.Call, place: int) -> ast.expr | None:
    """What is given by position in a place; none behind what is handed on."""
    before = call.args[: place + 1]
    return before[place] if len(before) > place and not any(isinstance(each, ast.Starred) for each in before) else None


def _is_open_ended(call: ast.Call, row: Deprecation) -> bool:
    """Whether a call hands on arguments, of which one may be the one in question."""
    by_place = bool(row.place) and any(isinstance(each, ast.Starred) for each in call.args)
    return by_place or any(each.arg is None for each in call.keywords)
