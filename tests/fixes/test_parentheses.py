"""Parentheses around what is put into new code: where they are needed, and there alone."""

from __future__ import annotations

import libcst as cst
import pytest

import torchlint
from torchlint.fixes.code import expression
from torchlint.fixes.parentheses import bare


def filled(template: str, part: str) -> str:
    return cst.Module([]).code_for_node(expression(template, x=cst.parse_expression(part)))


@pytest.mark.parametrize(
    ("template", "part", "expected"),
    [
        ("{x}.item()", "a + b", "(a + b).item()"),
        ("{x}.item()", "3", "(3).item()"),
        ("{x}[0]", "-a", "(-a)[0]"),
        ("{x} * 2", "a + b", "(a + b) * 2"),
        ("2 - {x}", "a - b", "2 - (a - b)"),
        ("2 ** {x}", "-a", "2 ** (-a)"),
        ("{x} ** 2", "-a", "(-a) ** 2"),
        ("-{x}", "a + b", "-(a + b)"),
        ("not {x}", "a or b", "not (a or b)"),
        ("a and {x}", "b or c", "a and (b or c)"),
        ("{x} is None", "a or b", "(a or b) is None"),
        ("{x} is None", "a < b", "(a < b) is None"),
        ("1 if {x} else 2", "a if b else c", "1 if (a if b else c) else 2"),
        ("1 if {x} else 2", "lambda: 0", "1 if (lambda: 0) else 2"),
        ("1 if {x} else 2", "(a := b)", "1 if (a := b) else 2"),
        ("{x} if a else 2", "b if c else d", "(b if c else d) if a else 2"),
        ("await {x}", "a + b", "await (a + b)"),
    ],
)
def test_stand_where_they_are_needed(template: str, part: str, expected: str) -> None:
    assert filled(template, part) == expected


@pytest.mark.parametrize(
    ("template", "part", "expected"),
    [
        ("{x}.item()", "a.b(c)[d]", "a.b(c)[d].item()"),
        ("{x} * 2", "a * b", "a * b * 2"),
        ("2 + {x}", "a * b", "2 + a * b"),
        ("-{x}", "a ** b", "-a ** b"),
        ("not {x}", "a is b", "not a is b"),
        ("{x} or a", "b and c", "b and c or a"),
        ("1 if {x} else 2", "a or b", "1 if a or b else 2"),
        ("1 if a else {x}", "lambda: 0", "1 if a else lambda: 0"),
        ("{x} if a else 2", "(b, c)", "(b, c) if a else 2"),
        ("f({x})", "a or b", "f(a or b)"),
    ],
)
def test_stand_nowhere_else(template: str, part: str, expected: str) -> None:
    assert filled(template, part) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("(a)", "a"),
        ("((a.b))", "a.b"),
        ("(f(\n1))", "f(\n1)"),
        ("(a # why\n .b)", "(a # why\n .b)"),
        ("(a + b)", "(a + b)"),
    ],
)
def test_go_where_they_are_not(code: str, expected: str) -> None:
    assert cst.Module([]).code_for_node(bare(cst.parse_expression(code))) == expected


def test_are_added_where_those_around_it_held_the_lines_together() -> None:
    call = cst.ensure_type(cst.parse_expression("f(a # why\n .b)"), cst.Call)
    assert cst.Module([]).code_for_node(bare(call.args[0].value)) == "(a # why\n .b)"


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_a_backslash_in_front_of_an_empty_line_keeps_its_brackets(newline: str) -> None:
    text = "from torch.autograd import Variable\n\n\ndef f(a, r):\n    return Variable(a.d\\\n\n.cat(r))\n".replace(
        "\n", newline
    )
    result = torchlint.fix(text, unsafe=True, select=["TPL101"])
    assert "return (a.d\\\n\n.cat(r))\n".replace("\n", newline) in result.text
