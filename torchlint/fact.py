"""What is known of a claim about a program, and why it is not known: what fixes rest on."""

from __future__ import annotations

import ast
from enum import Enum
from typing import NoReturn


class Answer(Enum):
    """What is known of a claim. It has no truth value: ``answer is Answer.CERTAIN`` says what is meant."""

    CERTAIN = "certain"
    REFUTED = "refuted"
    UNKNOWN = "unknown"

    def __bool__(self) -> NoReturn:
        raise TypeError("an answer is one of three: say which is meant")


class Fact:
    """The answer to a question about the program and, where it is not `Answer.CERTAIN`, the reason in a phrase for people.

    The phrase says what stands against a fix that rests on the claim: "`batch` comes from an imported loader; it may be no
    tensor". Facts are joined by ``&``: that is certain where both are, and has the reason of the first that is not.
    """

    __slots__ = ("answer", "doubt")

    def __init__(self, answer: Answer, doubt: str = "") -> None:
        assert (answer is Answer.CERTAIN) == (not doubt), "what is not certain has a reason, and nothing else"
        self.answer = answer
        self.doubt = doubt

    @property
    def is_certain(self) -> bool:
        """Whether a safe fix may rest on it."""
        return self.answer is Answer.CERTAIN

    def __and__(self, other: Fact) -> Fact:
        if self.is_certain or (other.answer is Answer.REFUTED and self.answer is Answer.UNKNOWN):
            return other
        return self

    def __bool__(self) -> NoReturn:
        raise TypeError("a fact is certain, refuted or unknown: say which is meant")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and (self.answer, self.doubt) == (other.answer, other.doubt)

    def __hash__(self) -> int:
        return hash((self.answer, self.doubt))

    def __repr__(self) -> str:
        return f"<{self.answer.value}{f': {self.doubt}' if self.doubt else ''}>"


CERTAIN = Fact(Answer.CERTAIN)
NOTHING = CERTAIN
"""What a fix rests on that is right whatever the values are: it spells the same thing in another way."""


def unknown(doubt: str) -> Fact:
    """A claim of which nobody can tell here whether it holds, and why."""
    return Fact(Answer.UNKNOWN, doubt)


def refuted(doubt: str) -> Fact:
    """A claim that does not hold here, and why."""
    return Fact(Answer.REFUTED, doubt)


def known(holds: bool, doubt: str) -> Fact:
    """A claim that is certain where ``holds``, and unknown for the reason given otherwise."""
    return CERTAIN if holds else unknown(doubt)


def all_of(*facts: Fact) -> Fact:
    """The conjunction of several claims."""
    together = CERTAIN
    for fact in facts:
        together &= fact
    return together


def shortened(node: ast.AST, longest: int = 40) -> str:
    """An expression for a reason: what is too long is shown without its arguments, or not at all."""
    text = ast.unparse(node)
    if len(text) <= longest:
        return text
    called = f"{ast.unparse(node.func)}(…)" if isinstance(node, ast.Call) else "…"
    return called if len(called) <= longest else "…"
