"""New code made of old: calls that lose an argument."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.fixes.code import argument, without_argument


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
