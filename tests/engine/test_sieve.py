"""The two sieves: whether bytes may be about a rule, and which statements and clauses of a text it is shown."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from torchlint.engine.sieve import triggered
from torchlint.engine.words import Raw
from torchlint.rules.triggers import (
    Api,
    Attribute,
    Call,
    Comment,
    Found,
    Keyword,
    Misspelt,
    Needs,
    Syntax,
    Trigger,
    Word,
    is_near,
)
from torchlint.semantics import Semantics
from torchlint.text.source import Source


@dataclass(frozen=True)
class Declared:
    """What a rule declares."""

    triggers: tuple[Trigger, ...]
    needs: Needs = ()
    code: str = "TPL999"


def may_hold(text: str | bytes, *triggers: Trigger, needs: Needs = ()) -> bool:
    data = text.encode() if isinstance(text, str) else text
    return Raw(data).may_hold(Declared(triggers, needs))


# --- bytes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["x.data", "x .  data", "f(data=1)", "'data'", "# data", "x.\\\ndata\r\n", "f'{x.data!r}'", "é.data"]
)
@pytest.mark.parametrize("trigger", [Word("data"), Attribute("data"), Call("data"), Keyword("size", "data")])
def test_words_that_a_file_holds(text: str, trigger: Trigger) -> None:
    assert may_hold(text, trigger)


@pytest.mark.parametrize("text", ["", "x.database", "x.data_", "_data", "data2", "Data", "datä", "édata"])
def test_other_words(text: str) -> None:
    assert not may_hold(text, Attribute("data"))


def test_an_api_is_told_by_its_last_part() -> None:
    api = Api("torch.autograd.Variable")
    assert may_hold("from torch.autograd import Variable as V", api)
    assert not may_hold("torch.autograd", api)


@pytest.mark.parametrize("text", ["# noqa", "#NOQA: E501", "x = 1  # NoQA"])
def test_comments_in_any_case(text: str) -> None:
    assert may_hold(text, Comment("noqa"))
    assert not may_hold(text.lower().replace("noqa", "no qa"), Comment("noqa"))


@pytest.mark.parametrize("trigger", [Syntax("AugAssign"), Found("torchlint:A.b")])
def test_what_takes_no_certain_word(trigger: Trigger) -> None:
    assert may_hold("", trigger)


def test_one_trigger_is_enough_and_each_need_has_to_be_met() -> None:
    assert may_hold("x.data", Call("view"), Attribute("data"))
    assert not may_hold("x.data")
    assert may_hold("torch.x.data", Attribute("data"), needs=(("torch", "numpy"), ("x",)))
    assert not may_hold("torch.x.data", Attribute("data"), needs=(("torch",), ("y", "z")))


def test_bytes_that_cannot_be_decoded() -> None:
    assert may_hold(b"\xff\xfe requires_gra", Misspelt("requires_grad"))
    assert may_hold(b"\xe9 = x.data", Attribute("data"))


# --- words that are nearly right -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("requires_grad", False),
        ("requires_grad_", False),
        ("require_grad", True),
        ("require_grads_", True),
        ("requires_grda", True),
        ("erquires_grad", True),
        ("requiers_garda", False),
        ("erquires_grda", True),
        ("reqires_gra", True),
        ("requires_gradients", False),
        ("required_grad", True),
        ("require_gradd", True),
        ("requries_grade", True),
        ("grad", False),
        ("quires_gra", False),
    ],
)
def test_two_edits_or_swaps(word: str, near: bool) -> None:
    assert is_near(word, "requires_grad") is near
    assert may_hold(f"x.{word} = True", Misspelt("requires_grad")) is near


def edited(word: str) -> Iterator[str]:
    """The words that are one letter more, less or other, or a swap of neighbours, away."""
    for place in range(len(word) + 1):
        before, behind = word[:place], word[place:]
        yield f"{before}x{behind}"
        if behind:
            yield f"{before}{behind[1:]}"
            yield f"{before}x{behind[1:]}"
        if behind[1:]:
            yield f"{before}{behind[1]}{behind[0]}{behind[2:]}"


@pytest.mark.parametrize("word", ["requires_grad", "abcdefgh", "abcdefghi", "abcdefghij"])
def test_the_three_pieces_let_no_such_word_slip(word: str) -> None:
    words = {other for once in edited(word) for other in (once, *edited(once))}
    near = {other for other in words if is_near(other, word)}
    assert len(near) > 400
    assert set(edited(word)) - {word} <= near
    assert [other for other in sorted(near) if not may_hold(other, Misspelt(word))] == []


# --- statements ------------------------------------------------------------------------------------------------------


def shown(text: str, *triggers: Trigger) -> list[str]:
    """The first lines of the statements and clauses that a rule with these triggers is shown."""
    units = triggered(Semantics(Source(text).tree), text.encode(), [Declared(triggers)])
    return [text.split("\n")[(unit.pattern if isinstance(unit, ast.match_case) else unit).lineno - 1].strip() for unit in units]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("import torch\ntorch.tensor(1)", "torch.tensor(1)"),
        ("x.tensor(1)", "x.tensor(1)"),
        ("from torch import tensor as t\nt(1)", "t(1)"),
        ("import torch\nt = torch.tensor\nt(1)", "t(1)"),
        ("import torch\na = b = torch.tensor\nc = b\nc(1)", "c(1)"),
        ("import torch\nself.t = torch.tensor\nself.t(1)", "self.t(1)"),
        ("import torch\nt: object = torch.tensor\nt(1)", "t(1)"),
        ("import torch\nif (t := torch.tensor):\n    t(1)", "t(1)"),
    ],
)
def test_calls_by_any_name(text: str, call: str) -> None:
    assert shown(text, Call("tensor")) == [call]


@pytest.mark.parametrize("text", ["tensor", "f(torch.tensor)", "x.tensor.y()", "def tensor(): pass"])
def test_no_calls(text: str) -> None:
    assert shown(text, Call("tensor")) == []


@pytest.mark.parametrize("text", ["x.data", "x.data = 1", "del x.data", "f(f'{x.data}')", "x = [a.data for a in b]"])
def test_attributes(text: str) -> None:
    assert shown(text, Attribute("data")) == [text]


@pytest.mark.parametrize("text", ["data", "f(data=1)", "'data'", "import x.data", "x.data_"])
def test_no_attributes(text: str) -> None:
    assert shown(text, Attribute("data")) == []


@pytest.mark.parametrize(
    ("text", "is_one"), [("f(a=1)", True), ("f(a)", False), ("f(**{'a': 1})", False), ("lambda a=1: 0", False)]
)
def test_keywords(text: str, is_one: bool) -> None:
    assert bool(shown(text, Keyword("a"))) is is_one


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import torch\ntorch.autograd.Variable(1)", ["torch.autograd.Variable(1)"]),
        ("from torch.autograd import Variable as V\nV(1)", ["V(1)"]),
        ("def Variable(x): pass\nVariable(1)", []),
    ],
)
def test_apis(text: str, found: list[str]) -> None:
    assert shown(text, Api("torch.autograd.Variable")) == found


@pytest.mark.parametrize(
    "text",
    [
        *("size", "x.size", "f(size=1)", "'size'", "import size", "import x.size.y", "from a import size", "import b as size"),
        *("lambda size: 1", "def size(): pass", "async def size(): pass", "class size: pass", "def f(size): pass"),
    ],
)
def test_words_wherever_they_are(text: str) -> None:
    assert shown(text, Word("size")) == [text]


def test_words_in_some_statements() -> None:
    text = "x = 'size'\nsize\ny: int = size\nf(size=1)"
    assert shown(text, Word("size", within="Assign")) == ["x = 'size'"]
    assert shown(text, Word("size", within="AnnAssign Expr")) == ["size", "y: int = size", "f(size=1)"]


@pytest.mark.parametrize("text", ["x.require_grad = 1", "f(requiers_grad=1)", "setattr(x, 'requires_grda', 1)"])
def test_misspelt_words(text: str) -> None:
    assert shown(text, Misspelt("requires_grad")) == [text]
    assert shown("x.requires_grad = 1\nx.requires_grad_()\nx.grad", Misspelt("requires_grad")) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AugAssign", "x += 1"),
        ("For", "for x in y:"),
        ("With", "with x:"),
        ("Del", "del x"),
        ("BooleanOperation", "a and b"),
        ("BinaryOperation", "a - b"),
        ("UnaryOperation", "-a"),
        ("Comparison", "a < b"),
    ],
)
def test_syntax_by_its_names_in_libcst(name: str, text: str) -> None:
    assert shown(f"{text} pass" if text.endswith(":") else text, Syntax(name)) == [
        f"{text} pass" if text.endswith(":") else text
    ]
    assert shown("print(x)", Syntax(name)) == []


def test_what_an_analysis_finds() -> None:
    head = "import torch\nx, y = torch.zeros(1), torch.zeros(1)\n"
    found = Found(".aliasing.identity:IdentityTests.found")
    assert shown(f"{head}if id(x.view(-1)) == id(y.view(-1)):\n    pass", found) == ["if id(x.view(-1)) == id(y.view(-1)):"]
    assert shown(f"{head}if id(x) == id(y):\n    pass", found) == []


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("if a.data:\n    b.data\nelif c.data:\n    d\nelse:\n    e.data", ["if a.data:", "b.data", "elif c.data:", "e.data"]),
        ("while a.data:\n    b.data", ["while a.data:", "b.data"]),
        ("with a.data as b.data:\n    c", ["with a.data as b.data:"]),
        ("@a.data\ndef f(b=c.data):\n    return d.data", ["def f(b=c.data):", "return d.data"]),
        ("class A(b.data):\n    c = d.data", ["class A(b.data):", "c = d.data"]),
        (
            "try:\n    a.data\nexcept b.data:\n    c.data\nexcept d:\n    e\nfinally:\n    f.data",
            ["a.data", "except b.data:", "c.data", "f.data"],
        ),
        (
            "match a.data:\n    case 1 if b.data:\n        c\n    case D.data:\n        e.data",
            ["match a.data:", "case 1 if b.data:", "case D.data:", "e.data"],
        ),
        ("a.data; b; c.data", ["a.data; b; c.data", "a.data; b; c.data"]),
        ("x = lambda: a.data\ny = [b.data for _ in c.data]", ["x = lambda: a.data", "y = [b.data for _ in c.data]"]),
    ],
)
def test_the_innermost_statement_or_clause_in_the_order_of_the_text(text: str, units: list[str]) -> None:
    assert shown(text, Attribute("data")) == units


MADE = Found(".apis.constructors:Constructors.made", ".aliasing.dated_constructions:DatedConstructions.found")


@pytest.mark.parametrize(
    ("lenient", "rows"),
    [((), [2, 3, 4]), (("TPL998",), [2, 3, 4]), (("TPL999",), [3, 4])],
)
def test_what_can_only_be_strict_is_left_out_where_the_rule_is_lenient(lenient: tuple[str, ...], rows: list[int]) -> None:
    text = "import torch\ntorch.Tensor(3, 4)\ntorch.LongTensor([0.5])\nf(torch.Tensor(3), torch.Tensor(torch.arange(3)))\n"
    units = triggered(Semantics(Source(text).tree), text.encode(), [Declared((MADE,))], lenient)
    assert [unit.lineno for unit in units if isinstance(unit, ast.stmt)] == rows


def test_each_statement_has_the_rules_that_are_shown_it_once() -> None:
    one, other = Declared((Attribute("data"), Attribute("grad"))), Declared((Call("f"),))
    text = "f()\nx.grad.data\ny\nf(x.data)"
    units = triggered(Semantics(Source(text).tree), text.encode(), [one, other])
    assert [(unit.lineno if isinstance(unit, ast.stmt) else 0, rules) for unit, rules in units.items()] == [
        (1, [other]),
        (2, [one]),
        (4, [one, other]),
    ]
