"""Arguments that are deprecated or removed, and those that are to be given: what is said of them, and the fixes."""

from __future__ import annotations

import libcst as cst

from torchlint.fact import known, unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import argument, instead_of, with_argument, without_argument
from torchlint.rules.legacy.spellings.deprecations import release
from torchlint.rules.rule import Rule
from torchlint.semantics.apis.deprecations import Deprecation, deprecation

COMPARED_ARGUMENTS = frozenset({("torch.meshgrid", "indexing"), ("torch.functional.meshgrid", "indexing")})
"""What was run with and without, to the same results (`tests/torch_api/test_proven_replacements.py`)."""


def arguments(rule: Rule, call: cst.Call) -> list[Deprecation]:
    """What the table says of what a call gives, or leaves out."""
    used = rule.model.apis.deprecated_arguments(call)
    if not used or rule.model.apis.asks_for_version(call):
        return []
    return [deprecation(*each) for each in used]


def said_of_argument(rule: Rule, call: cst.Call, row: Deprecation) -> str:
    """The use that a row of the table is about, in the words of the code."""
    function = rule.model.shown(call.func)
    if row.when == "missing":
        return f"`{function}` without `{row.parameter}`"
    return f"`{row.parameter}` of `{function}`"


def advice(row: Deprecation) -> str:
    """What to do, in torchlint's words where there is an answer, and else in those of the library."""
    word, _, value = row.replacement.partition("=")
    if row.replacement == "-" and row.parameter == "verbose":
        return "leave it out; `get_last_lr()` gives the learning rate"
    if row.replacement == "-":
        return "leave it out, it has no effect"
    if value == "...":
        return f"use `{word}`"
    if value and row.when == "missing":
        return f"give `{row.replacement}`"
    return row.advice


def given_instead(rule: Rule, call: cst.Call, row: Deprecation) -> CodeFix | None:
    """The fix: another name for an argument, or the argument that is missing; ``None`` where no one answer is right."""
    word, _, value = row.replacement.partition("=")
    given = argument(call, row.parameter)
    if row.replacement == "-" and given is not None and not _does_something(given.value):
        title = f"Leave out `{row.parameter}`"
        return fix(title, replace(call, without_argument(call, given)), rests_on=unknown("an older torch may heed it"))
    if row.replacement == "-" and (only := _only(rule, call, row)) is not None and not _does_something(only.value):
        title = f"Leave out `{row.parameter}`"
        doubt = unknown(f"a torch before {release(row.since)} may ask for it")
        return fix(title, replace(call, without_argument(call, only)), rests_on=doubt)
    if not value or (given is None) != (row.when == "missing") or (word != row.parameter and argument(call, word) is not None):
        return None
    if given is not None:
        if value != "...":
            return None
        changed = replace(given, instead_of(given, word, given.value))
        return fix(f"Use `{word}`", changed, rests_on=unknown("an older torch may not take it under this name"))
    new = with_argument(call, word, rule.model.code.string(value.strip("'")))
    compared = known((row.symbol, row.parameter) in COMPARED_ARGUMENTS, "no run has compared the two")
    rests_on = compared & rule.model.apis.means_the_same(call.func, row.symbol, row.symbol)
    return fix(f"Add `{word}={rule.model.code.written(new.args[-1].value)}`", replace(call, new), rests_on=rests_on)


def _does_something(value: cst.CSTNode) -> bool:
    """Whether computing a value may do more than that, so that it cannot be left out."""
    return isinstance(value, (cst.Call, cst.NamedExpr, cst.Await, cst.Yield)) or any(map(_does_something, value.children))


def _only(rule: Rule, call: cst.Call, row: Deprecation) -> cst.Arg | None:
    """The argument of a constructor that is all it is given, by position: ``super().__init__(data_source)``."""
    given = call.args[1:] if rule.model.apis.is_given_self(call) else call.args
    is_first = row.place == "0" and len(given) == 1 and given[0].keyword is None and not given[0].star
    return given[0] if is_first else None
