"""New code made of old: calls that lose an argument, or get one more."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.fixes.code import argument, with_argument, with_positional, without_argument


def without_gone(code: str) -> str:
    """A call without its argument ``gone``."""
    call = cst.ensure_type(cst.parse_expression(code), cst.Call)
    given = argument(call, "gone")
    assert given is not None
    return cst.Module([]).code_for_node(without_argument(call, given))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(gone=1)", "f()"),
        ("f( gone=1 )", "f()"),
        ("f(\n    gone=1,\n)", "f()"),
        ("f(gone=1, a=2)", "f(a=2)"),
        ("f(\n    gone=1,\n    a=2,\n)", "f(\n    a=2,\n)"),
        ("f(1, gone=1)", "f(1)"),
        ("f(1, gone=1,)", "f(1,)"),
        ("f(1, gone=1 )", "f(1 )"),
        ("f(1\n  , gone=1)", "f(1)"),
        ("f(\n    1,\n    gone=1,\n)", "f(\n    1,\n)"),
        ("f(\n    1,\n    gone=1\n)", "f(\n    1\n)"),
        ("f(1, gone=1, a=2)", "f(1, a=2)"),
    ],
)
def test_an_argument_goes_with_its_comma(before: str, after: str) -> None:
    assert without_gone(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(  # why\n    gone=1,\n)", "f(  # why\n)"),
        ("f(\n    gone=1,  # why\n)", "f(\n    # why\n)"),
        ("f(gone=1  # why\n)", "f(  # why\n)"),
        ("f(  # f\n    gone=1,  # why\n    # and so\n)", "f(  # f\n    # why\n    # and so\n)"),
        ("f(\n    gone=1,  # why\n    a=2,\n)", "f(\n    # why\n    a=2,\n)"),
        ("f(\n    1,  # one\n    gone=1,\n)", "f(\n    1,  # one\n)"),
        ("f(\n    1,  # one\n    gone=1\n)", "f(\n    1  # one\n)"),
        ("f(\n    1,  # one\n    gone=1,  # why\n    a=2,\n)", "f(\n    1,  # one\n    # why\n    a=2,\n)"),
    ],
)
def test_comments_beside_it_stay(before: str, after: str) -> None:
    assert without_gone(before) == after


@pytest.mark.parametrize(
    ("before", "by_name", "by_place"),
    [
        ("f()", "f(new=1)", "f(1)"),
        ("f( )", "f( new=1)", "f( 1)"),
        ("f(a)", "f(a, new=1)", "f(a, 1)"),
        ("f(a, )", "f(a, new=1, )", "f(a, 1, )"),
        ("f(a )", "f(a, new=1 )", "f(a, 1 )"),
        ("f(\n    a,  # why\n)", "f(\n    a, new=1,  # why\n)", "f(\n    a, 1,  # why\n)"),
    ],
)
def test_an_argument_is_added_behind_the_last_one(before: str, by_name: str, by_place: str) -> None:
    call, one = cst.ensure_type(cst.parse_expression(before), cst.Call), cst.Integer("1")
    assert cst.Module([]).code_for_node(with_argument(call, "new", one)) == by_name
    assert cst.Module([]).code_for_node(with_positional(call, one)) == by_place


def test_an_argument_that_is_there_gets_another_value() -> None:
    call = cst.ensure_type(cst.parse_expression("f(new = 2, a=3)"), cst.Call)
    assert cst.Module([]).code_for_node(with_argument(call, "new", cst.Integer("1"))) == "f(new = 1, a=3)"
