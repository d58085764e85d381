"""New code in the place of changes in place."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.fixes.out_of_place import operation, out_of_place


def written(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y *= 2", "y = y * 2"),
        ("y -= a.b(c)", "y = y - a.b(c)"),
        ("y += a * b", "y = y + a * b"),
        ("y *= a + b", "y = y * (a + b)"),
        ("y -= a - b", "y = y - (a - b)"),
        ("y **= -1", "y = y ** (-1)"),
        ("y //= a if b else c", "y = y // (a if b else c)"),
        ("y %= (a, b)", "y = y % (a, b)"),
        ("y /= lambda: 1", "y = y / (lambda: 1)"),
        ("(y) += 1", "(y) = y + 1"),
        ("y*=2", "y=y*2"),
        ("y  +=  \\\n  2", "y = y + 2"),
    ],
)
def test_operations(before: str, after: str) -> None:
    statement = cst.parse_statement(before)
    assert isinstance(statement, cst.SimpleStatementLine)
    assert isinstance(assignment := statement.body[0], cst.AugAssign)
    assert written(operation(assignment)) == after


@pytest.mark.parametrize(("before", "after"), [("y.mul_(2)", "y.mul(2)"), ("(y . clamp_)(0, 1)", "(y . clamp)(0, 1)")])
def test_methods(before: str, after: str) -> None:
    call = cst.parse_expression(before)
    assert isinstance(call, cst.Call)
    assert written(out_of_place(call)) == after
