"""Questions about values that are made of one another: the answers are the same whoever asks first."""

from __future__ import annotations

import ast
from itertools import permutations
from textwrap import dedent

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.certainty.likely_tensors import LikelyTensors
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.bindings import Binding


class Question:
    """Is it made by ``yes()``? Of two operands one must be, of the values of a name all."""

    def __init__(self, code: str) -> None:
        module = ast.parse(dedent(code))
        last = module.body[-1]
        assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
        self.names = last.value.args
        self._bindings = Semantics(module).bindings
        self._beliefs = Beliefs(self._bindings, self._work_out)

    def answer(self, index: int) -> bool:
        """Of one of the names that the last statement is given."""
        return self._beliefs.hold(self.names[index])

    def _work_out(self, value: Value) -> bool:
        match value:
            case Binding(value=ast.expr() as bound):
                return self._beliefs.hold(bound)
            case ast.Name():
                return all([self._beliefs.hold(binding) for binding in self._bindings.reaching(value)])
            case ast.BinOp(left=left, right=right):
                return any([self._beliefs.hold(left), self._beliefs.hold(right)])
            case ast.Call(func=ast.Name(id=name)):
                return name == "yes"
        return False


CIRCLES = """
    a = yes()
    b = yes()
    c = no()
    for x in xs:
        a = b + c
        b = c + yes()
        c = a
        d = a + (b + 1)
        a = 1 + d
        e = e + a
    use(a, b, c, d, e)
"""


@pytest.mark.parametrize("order", list(permutations(range(5))))
def test_the_order_of_questions_does_not_matter(order: tuple[int, ...]) -> None:
    question = Question(CIRCLES)
    assert {index: question.answer(index) for index in order} == {0: True, 1: True, 2: False, 3: True, 4: True}


def test_a_no_is_taken_back_that_rested_on_what_turns_out_to_be_a_yes() -> None:
    question = Question("""
        while more():
            one = other + 1
            other = one + yes()
        use(other, one)
    """)
    assert question.answer(0)  # while which `one` is asked for
    assert question.answer(1)


def test_nothing_follows_round_a_circle() -> None:
    question = Question("""
        while more():
            one = other + 1
            other = one + 1
        use(other, one)
    """)
    assert not question.answer(0) and not question.answer(1)


@pytest.mark.parametrize("links", [29, 31, 59, 5000])
def test_a_chain_may_be_long(links: int) -> None:
    chain = "".join(f"x{index + 1} = x{index} + 1\n" for index in range(links))
    assert Question(f"x0 = yes()\n{chain}use(x{links})\n").answer(0)


def test_a_tensor_that_is_added_to_in_turn() -> None:
    module = ast.parse("import torch\nx = torch.ones(3)\nfor y in z:\n    x += 1\n    x += 2\nuse(x)\n")
    (use,) = (node for node in ast.walk(module) if isinstance(node, ast.Name) and ast.unparse(node) == "x" and node.lineno == 6)
    assert not LikelyTensors(Semantics(module)).is_tensor(use)
