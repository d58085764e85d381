"""Which rules run for what is selected and ignored."""

from __future__ import annotations

import pytest

from torchlint.rules.catalogue import Entry
from torchlint.rules.selection import SelectionError, codes_in, find_rule, select_rules


def rule(code: str, *, default: bool = True, name: str = "") -> Entry:
    return Entry(code, name or f"another-mistake-{code[3:]}", "nowhere", "Nothing", (), default=default)


RULES = [rule("TPL001", name="data-mutation"), rule("TPL002"), rule("TPL101"), rule("TPL205", default=False), rule("TPL401")]


def codes(select: list[str] | None = None, ignore: tuple[str, ...] = (), extend_select: tuple[str, ...] = ()) -> str:
    return " ".join(found.code for found in select_rules(select, ignore, extend_select, among=RULES))


@pytest.mark.parametrize(
    ("select", "ignore", "extend_select", "expected"),
    [
        (None, (), (), "TPL001 TPL002 TPL101 TPL401"),
        (["ALL"], (), (), "TPL001 TPL002 TPL101 TPL205 TPL401"),
        (["TPL"], (), (), "TPL001 TPL002 TPL101 TPL205 TPL401"),
        (["strict"], (), (), "TPL001 TPL002 TPL101 TPL205 TPL401"),
        (None, (), ("strict",), "TPL001 TPL002 TPL101 TPL205 TPL401"),
        (["strict"], ("TPL1",), (), "TPL001 TPL002 TPL205 TPL401"),
        (["TPL0"], (), (), "TPL001 TPL002"),
        (["TPL101", "TPL001"], (), (), "TPL001 TPL101"),
        (["TPL2"], (), (), "TPL205"),
        ([], (), (), ""),
        (None, ("TPL0",), (), "TPL101 TPL401"),
        (None, ("ALL",), (), ""),
        (None, (), ("TPL205",), "TPL001 TPL002 TPL101 TPL205 TPL401"),
        (["TPL0"], (), ("TPL4",), "TPL001 TPL002 TPL401"),
        # the most specific entry decides
        (["TPL001"], ("TPL0",), (), "TPL001"),
        (["TPL0"], ("TPL001",), (), "TPL002"),
        (["TPL"], ("ALL",), (), "TPL001 TPL002 TPL101 TPL205 TPL401"),
        (["ALL"], ("TPL",), (), ""),
        (None, ("TPL0",), ("TPL002",), "TPL002 TPL101 TPL401"),
        # of two equally specific ones, the one that ignores
        (["TPL001", "TPL002"], ("TPL002",), (), "TPL001"),
        (["ALL"], ("ALL",), (), ""),
    ],
)
def test_what_runs(select: list[str] | None, ignore: tuple[str, ...], extend_select: tuple[str, ...], expected: str) -> None:
    assert codes(select, ignore, extend_select) == expected


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("TPL1O1", "unknown rule code `TPL1O1`; did you mean `TPL101`?"),
        ("tpl001", "unknown rule code `tpl001`; did you mean `TPL001`?"),
        ("TPL9", "unknown rule code `TPL9`; did you mean `TPL`?"),
        ("all", "unknown rule code `all`; did you mean `ALL`?"),
        ("data_mutation", "unknown rule code `data_mutation`; did you mean `data-mutation`?"),
        ("Data-Mutations", "unknown rule code `Data-Mutations`; did you mean `data-mutation`?"),
        ("E501", "unknown rule code `E501`; `torchlint rule --all` lists them"),
    ],
)
@pytest.mark.parametrize("option", ["select", "ignore", "extend_select"])
def test_unknown_codes_are_errors_that_name_the_nearest(option: str, entry: str, message: str) -> None:
    with pytest.raises(SelectionError) as error:
        select_rules(**{option: [entry]}, among=RULES)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_a_single_rule_is_found_by_its_whole_code_only() -> None:
    assert find_rule("TPL101", among=RULES).code == "TPL101"
    with pytest.raises(SelectionError, match=r"unknown rule code `TPL10`; did you mean `TPL101`\?"):
        find_rule("TPL10", among=RULES)


def test_codes_come_separated_by_commas_or_repeated() -> None:
    assert codes_in(["TPL001,TPL1", " TPL2 , ", ""]) == ["TPL001", "TPL1", "TPL2"]


def test_the_real_rules_are_chosen_from_by_default() -> None:
    assert [found.name for found in select_rules(["TPL005"])] == ["requires-grad-typo"]
