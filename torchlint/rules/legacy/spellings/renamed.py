"""What torch used to call its functions, and what it calls them now. Checked by running torch 2.13."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from torchlint.diagnostic import Severity
from torchlint.fixes.changes import CodeFix, fix, rename, replace
from torchlint.fixes.code import expression, is_open_ended, with_argument
from torchlint.rules.rule import Rule
from torchlint.semantics.apis.deprecations import Deprecation, deprecation, is_member, symbols
from torchlint.target import TorchVersion

_OLDEST = TorchVersion(0, 4)


@dataclass(frozen=True, slots=True)
class Renamed:
    """What a function is called now, why the old name is to go, and the keywords that keep the new one doing the same."""

    new: str
    why: str
    keywords: tuple[tuple[str, str], ...] = ()
    since: TorchVersion = _OLDEST


_WARNS = "is deprecated and warns at every call"
_REMOVED = "was removed"
_SAME_AS_TORCH = "was deprecated by torch 0.4.1 to 1.13, and does not warn since"
HAS_REDUCTION = TorchVersion(1, 0)
"""The first torch in which losses take ``reduction`` with the words of today; `interpolate` is as old."""

_FIRST = "1.0.0"
"""The release that the table of what is deprecated begins with: what that one renamed in `torch.nn` is this rule's."""


def _of(row: Deprecation) -> Renamed:
    """What the table says of an old name."""
    template = cst.parse_expression(row.replacement)
    given = template.args if isinstance(template, cst.Call) else ()
    words = tuple(
        (each.keyword.value, cst.Module(()).code_for_node(each.value).replace("'", '"'))
        for each in given
        if each.keyword is not None
    )
    new = row.replacement.partition("(")[0]
    return Renamed(new, _WARNS, words, _OLDEST if new.endswith("_") else HAS_REDUCTION)


def _old_names() -> dict[str, Renamed]:
    of_nn = (deprecation(symbol) for symbol in sorted(symbols()) if symbol.startswith("torch.nn."))
    return {row.symbol: _of(row) for row in of_nn if row.since == _FIRST and row.replacement and not is_member(row.symbol)}


RENAMED = {
    **_old_names(),
    "torch.nn.functional.sigmoid": Renamed("torch.sigmoid", _SAME_AS_TORCH),
    "torch.nn.functional.tanh": Renamed("torch.tanh", _SAME_AS_TORCH),
    "torch.nn.functional.nll_loss2d": Renamed("torch.nn.functional.nll_loss", _REMOVED, since=HAS_REDUCTION),
}
"""Functions and classes by their old names; what the table lacks is not deprecated any more, or had gone before torch 1.0."""


def report_old_name(rule: Rule, node: cst.Name | cst.Attribute) -> None:
    """Reports a name or an attribute that refers to a function by its old name."""
    renamed = RENAMED.get(rule.model.name(node))
    if renamed is None or rule.options.target < renamed.since or rule.model.is_stored(node):
        return
    if rule.model.apis.asks_for_version(node) or rule.model.code.is_given_name(node):
        return  # an alias that the file gives it is reported where it is given
    text, new = rule.model.shown(node), short(renamed.new)
    message = f"`{text}` {renamed.why}: use `{new}`, which does the same"
    severity: Severity = "error" if renamed.why is _REMOVED else "warning"
    rule.report(node, message, _fix(rule, node, renamed), strict=renamed.why is _SAME_AS_TORCH, severity=severity)


def _fix(rule: Rule, node: cst.Name | cst.Attribute, renamed: Renamed) -> CodeFix | None:
    title, changes = f"Use `{short(renamed.new)}`", [rename(node, renamed.new)]
    if renamed.keywords:
        call = rule.model.parent(node)
        if not isinstance(call, cst.Call) or call.func is not node or is_open_ended(call):
            return None
        new = call
        for name, value in renamed.keywords:
            new = with_argument(new, name, expression(value))
        changes.append(replace(call, new))
    return fix(title, *changes, rests_on=rule.model.apis.means_the_same(node, rule.model.name(node), renamed.new))


def short(name: str) -> str:
    """A dotted name as it is usually spelt."""
    for module, usual in (("torch.nn.functional.", "F."), ("torch.nn.", "nn.")):
        if name.startswith(module):
            return usual + name.removeprefix(module)
    return name
