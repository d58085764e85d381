"""What is said of deprecated and removed APIs, and the fixes: a new name, or a call of another shape."""

from __future__ import annotations

from functools import cache

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.fixes.changes import CodeFix, fix, rename, replace
from torchlint.fixes.code import api, argument, is_open_ended
from torchlint.rules.legacy._renamed import RENAMED, short
from torchlint.rules.rule import Rule
from torchlint.semantics.apis.deprecations import Deprecation, deprecations

COMPARED = frozenset(
    {
        *("torch.ger", "torch.chain_matmul", "torch.functional.chain_matmul"),
        *(f"functorch.{name}" for name in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "vmap")),
    }
)
"""What was run beside its replacement, to the same results (`tests/test_deprecations.py`)."""
_DOUBTS = {
    "autocast": "another file may have set the dtype that autocast takes by default",
    "GradScaler": "code may tell the two classes apart",
}
_EVERYDAY = frozenset(
    {"load", "save", "export", "ignore", "isinstance", "wait", "fork", "annotate", "interface", "freeze", "main"}
)
"""Words in every other file: what is called so, and warns of nothing that is seen, is not worth the look."""
_CALLED = frozenset({"torch.fft"})
"""Functions that have become modules: only a call is meant for the function."""


def deprecated_names() -> list[str]:
    """The full names of what is, or was before it went, deprecated as a whole, but for what TPL106 mends."""
    return sorted(name for name, row in _rows().items() if row.since)


def removed_names() -> list[str]:
    """The full names of what has been removed, or only raises, but for what TPL106 mends."""
    return sorted(name for name, row in _rows().items() if row.removed)


@cache
def _rows() -> dict[str, Deprecation]:
    whole = ((name, row) for (name, parameter), row in deprecations().items() if not parameter and name not in RENAMED)
    return {name: row for name, row in whole if row.warns or name.rpartition(".")[2] not in _EVERYDAY}


def found(rule: Rule, node: cst.Name | cst.Attribute) -> Deprecation | None:
    """What the table says of what a name or an attribute refers to; ``None`` where the rule has nothing to say there."""
    row = _rows().get(rule.model.name(node) or "")
    if row is None or rule.model.is_stored(node):
        return None
    parent = rule.model.parent(node)
    if row.symbol in _CALLED and not (isinstance(parent, cst.Call) and parent.func is node):
        return None
    if rule.model.apis.asks_for_version(node) or rule.model.code.is_given_name(node):
        return None  # an alias that the file gives it is reported where it is given
    return row


def replaced(rule: Rule, node: cst.Name | cst.Attribute, row: Deprecation, doubt: str = "") -> CodeFix | None:
    """The fix that puts the replacement in the place of what is deprecated; safe unless there is a ``doubt``."""
    if not row.replacement:
        return None
    title = f"Use `{short(row.replacement.partition('(')[0])}`"
    if "(" not in row.replacement:
        rests_on = _rests_on(rule, node, row.replacement, doubt)
        return fix(title, rename(node, row.replacement), rests_on=rests_on)
    template = cst.parse_expression(row.replacement)
    call = rule.model.parent(node)
    assert isinstance(template, cst.Call)
    if isinstance(call, cst.FunctionDef) and any(each.decorator is node for each in call.decorators):
        words = [_quoted(rule, each) for each in template.args if not isinstance(each.value, cst.Ellipsis)]
        made = cst.Call(api(row.replacement.partition("(")[0]), [_renewed(each) for each in words])
        return fix(title, replace(node, made), rests_on=_rests_on(rule, node, row.symbol, doubt))
    if not isinstance(call, cst.Call) or call.func is not node:
        return None
    args = _filled(template.with_changes(args=[_quoted(rule, each) for each in template.args]), call)
    if args is None:
        return None
    new = row.replacement.partition("(")[0]
    changed = call.with_changes(func=api(new), args=args)
    return fix(title, replace(call, changed), rests_on=_rests_on(rule, node, new, doubt))


def _rests_on(rule: Rule, node: cst.Name | cst.Attribute, new: str, doubt: str) -> Fact:
    old = rule.model.name(node)
    if doubt or old not in COMPARED:
        return unknown(
            doubt or _DOUBTS.get(old.rpartition(".")[2], "torch names it as the successor; no run has compared the two")
        )
    return rule.model.apis.means_the_same(node, old, new)


def _filled(template: cst.Call, call: cst.Call) -> list[cst.Arg] | None:
    """The arguments of a template, those of a call in the places of its dots; ``None`` where that is not clear."""
    given = list(call.args)
    by_place = [each for each in given if each.keyword is None and not each.star]
    words = [each for each in given if each.keyword is not None]
    made: list[cst.Arg] = []
    for each in template.args:
        if isinstance(each.value, cst.Ellipsis) and each.keyword is None:
            made += given
            given, by_place, words = [], [], []
        elif isinstance(each.value, cst.Ellipsis):
            if by_place:
                made.append(by_place.pop(0).with_changes(keyword=each.keyword, equal=_EQUAL))
        elif isinstance(each.value, cst.List):
            if words or is_open_ended(call):
                return None
            made.append(cst.Arg(cst.List([cst.Element(one.value) for one in by_place])))
            given, by_place = [], []
        elif each.keyword is None or argument(call, each.keyword.value) is None:
            made.append(each)
        else:
            return None
    if by_place or (is_open_ended(call) and any(each.star == "*" for each in given)):
        return None
    made += words
    commas = [_COMMA] * (len(made) - 1) + [cst.MaybeSentinel.DEFAULT]
    return [_renewed(each).with_changes(comma=comma) for each, comma in zip(made, commas, strict=True)]


def _renewed(given: cst.Arg) -> cst.Arg:
    """An argument whose value stays as it is written, and nothing else: it comes to stand elsewhere."""
    word = None if given.keyword is None else cst.Name(given.keyword.value)
    return cst.Arg(given.value, word, cst.MaybeSentinel.DEFAULT if word is None else _EQUAL, star=given.star)


def _quoted(rule: Rule, given: cst.Arg) -> cst.Arg:
    """An argument of a template, a string in the quotes that the file uses."""
    if not isinstance(given.value, cst.SimpleString):
        return given
    return given.with_changes(value=rule.model.code.string(str(given.value.evaluated_value)))


_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
_EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def release(version: str) -> str:
    """A release as it is usually named: 2.4 for 2.4.0."""
    return version.removesuffix(".0") if version.count(".") == 2 else version
