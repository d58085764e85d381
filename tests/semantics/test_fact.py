"""Facts: three answers, no truth value, and the reason that is shown."""

from __future__ import annotations

import pytest

from torchlint.fact import CERTAIN, NOTHING, Answer, Fact, all_of, known, refuted, unknown

LIST = unknown("it may be a list")
FLOAT = unknown("it may be a float")
NONE = refuted("it is None")


def test_a_conjunction_is_certain_where_all_are() -> None:
    assert (CERTAIN & NOTHING).is_certain
    assert all_of().is_certain
    assert not (CERTAIN & LIST).is_certain
    assert not (LIST & CERTAIN).is_certain


def test_a_conjunction_has_the_first_reason_and_what_is_refuted_before_what_is_unknown() -> None:
    assert (CERTAIN & LIST & FLOAT).doubt == "it may be a list"
    assert all_of(LIST, NONE, FLOAT) == NONE
    assert all_of(NONE, LIST).answer is Answer.REFUTED


def test_known() -> None:
    assert known(True, "it may be a list") == CERTAIN
    assert known(False, "it may be a list") == LIST


@pytest.mark.parametrize("value", [CERTAIN, LIST, NONE, *Answer], ids=repr)
def test_neither_facts_nor_answers_have_a_truth_value(value: object) -> None:
    with pytest.raises(TypeError):
        bool(value)


def test_a_reason_belongs_to_what_is_not_certain() -> None:
    with pytest.raises(AssertionError):
        Fact(Answer.UNKNOWN)
    with pytest.raises(AssertionError):
        Fact(Answer.CERTAIN, "it may be a list")
