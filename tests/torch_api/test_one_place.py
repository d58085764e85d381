"""Every row of the table is known to one rule, and by one finding: a program is made for each, and linted with all of them."""

from __future__ import annotations

from collections import Counter

import torchlint
from torchlint.semantics.apis.deprecations import Deprecation, deprecations, is_member, modules, unannounced

CODES = ("TPL106", "TPL107", "TPL108", "TPL109", "TPL111")


def owner_and_name(symbol: str) -> tuple[str, str]:
    owner, _, name = symbol.rpartition(".")
    return owner, name


SILENT = {
    **{
        f"torch.jit.{name}": "a word of every other file, and a warning that Python shows in the main program only"
        for name in ("annotate", "export", "fork", "freeze", "ignore", "interface", "isinstance", "load", "save", "wait")
    },
    **{
        f"torchvision.models.detection.backbone_utils.{name} pretrained": "other arguments tell which weights it meant"
        for name in ("mobilenet_backbone", "resnet_fpn_backbone")
    },
}
"""Rows that no finding is of, and why; the uses that no text shows (``depends``) are the others."""
TWICE = {
    f"torch.jit.{name} optimize": "the function is deprecated as well, and that is another warning"
    for name in ("script", "trace", "trace_module")
} | {"torch.nn.utils.weight_norm.WeightNorm.apply": "naming the class names a deprecated function on the way"}
"""Rows whose program has two findings, and why."""


def program(row: Deprecation) -> str:
    """A program that uses what a row is about, once."""
    if not row.parameter and row.symbol in modules() | unannounced():
        return f"from {row.symbol} import anything\n"
    owner, name = owner_and_name(row.symbol)
    call = f"{name}({given(row)})" if row.parameter else f"{name}()"
    if is_member(row.symbol) and owner.startswith(SCHEDULERS):
        concrete = owner.replace("LRScheduler", "StepLR")
        return f"import {SCHEDULERS}\n\nvalue = {concrete}(optimizer)\nvalue.{call}\n"
    if is_member(row.symbol):
        return f"import {owner.rpartition('.')[0]}\n\n\ndef use(value: {owner}):\n    return value.{call}\n"
    return f"import {owner}\n\n{owner}.{call}\n"


SCHEDULERS = "torch.optim.lr_scheduler"


def given(row: Deprecation) -> str:
    """Arguments that are what a row of a parameter is about."""
    before = ["first", "second"]
    if row.place:
        before = before[: int(row.place)]
    match row.when:
        case "missing":
            return ", ".join(before)
        case "given":
            return ", ".join([*before, f"{row.parameter}=value"])
        case condition:
            return ", ".join([*before, f"{row.parameter}{condition}"])


def key(row: Deprecation) -> str:
    return f"{row.symbol} {row.parameter}".strip()


ROWS = {key(row): row for row in deprecations().values() if row.when != "depends"}


def test_each_row_has_one_finding_of_one_rule() -> None:
    codes = {name: [each.code for each in torchlint.lint(program(row), select=CODES)] for name, row in ROWS.items()}
    expected = {name: 0 if name in SILENT else 2 if name in TWICE else 1 for name in ROWS}
    assert {name: found for name, found in codes.items() if len(found) != expected[name] or len({*found}) > 1} == {}
    assert {*SILENT, *TWICE} <= ROWS.keys()
    assert Counter(code for found in codes.values() for code in found).keys() == {*CODES}
