"""Claims about values that hold where they hold of everything that a value is made of, round loops as well."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Question = TypeVar("Question", bound=Hashable)

_DEEP = 40
"""What is asked at this depth is not followed any further: the answer is no."""


class Invariants(Generic[Question]):
    """Answers a question by others, in circles: yes where nothing speaks against it.

    What is being worked out is taken to be a yes meanwhile: a value that a loop makes of its value of the round before is what
    it was before the loop, if each round keeps it so. A yes that rests on what turns out to be a no is forgotten. A no never
    rests on such a belief.
    """

    def __init__(self, work_out: Callable[[Question], bool]) -> None:
        self._work_out = work_out
        self._answers: dict[Question, bool] = {}
        self._open: dict[Question, int] = {}
        """What is being worked out, with its place in the order in which that was begun."""
        self._believed: dict[Question, int] = {}
        """Answers of yes that rest on something open, with the first place of such, in the order in which they were given."""
        self._lowest = 0

    def holds(self, question: Question) -> bool:
        """Whether the answer is yes."""
        if (known := self._answers.get(question)) is not None:
            return known
        if (place := self._open.get(question, self._believed.get(question))) is not None:
            self._lowest = min(self._lowest, place)
            return True
        if len(self._open) >= _DEEP:
            return False
        return self._answer(question)

    def _answer(self, question: Question) -> bool:
        place = self._open[question] = len(self._open)
        around, self._lowest = self._lowest, place
        believed_before = len(self._believed)
        answer = self._work_out(question)
        del self._open[question]
        rests_on, self._lowest = self._lowest, around
        if not answer:
            self._settle(believed_before, keep=False)
            self._answers[question] = False
        elif rests_on < place:
            self._believed[question] = rests_on
            self._lowest = min(around, rests_on)
        else:
            self._settle(believed_before, keep=True)
            self._answers[question] = True
        return answer

    def _settle(self, before: int, *, keep: bool) -> None:
        """Keeps the believed answers that were given since, or forgets them."""
        while len(self._believed) > before:
            believed, _ = self._believed.popitem()
            if keep:
                self._answers[believed] = True
