"""Questions about values that are made of one another, in circles or in long chains."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeAlias

from torchlint.semantics.code.bindings import Binding, Bindings

Value: TypeAlias = ast.expr | Binding

_DEEP = 30
"""At this depth of recursion, what is needed further on is worked out first."""


class Beliefs:
    """Answers a question about expressions and bindings: yes where that follows from what they are made of.

    What is being worked out is believed to be a no meanwhile, so that round a circle nothing follows. A no that rests on such a
    belief is taken back when that turns out to be a yes: no answer depends on which was asked for first.
    """

    def __init__(self, bindings: Bindings, work_out: Callable[[Value], bool]) -> None:
        self._bindings = bindings
        self._work_out = work_out
        self._answers: dict[Value, bool] = {}
        self._open: dict[Value, int] = {}
        """What is being worked out, with its place in the order in which that was begun."""
        self._lowest = 0
        """The first of these that is believed to be a no in what is being worked out last."""
        self._doubtful: dict[Value, int] = {}
        """The answers that rest on a belief, in the order in which they were given, each with the first place of such."""
        self._depth = 0

    def hold(self, value: Value) -> bool:
        """Whether the answer is yes."""
        if (place := self._open.get(value, self._doubtful.get(value))) is not None:
            self._lowest = min(self._lowest, place)
            return False
        known = self._answers.get(value)
        if known is not None:
            return known
        if self._depth == _DEEP:
            self._work_out_ahead(value)
        return self._answer(value)

    def _answer(self, value: Value) -> bool:
        place = self._open[value] = len(self._open)
        around, self._lowest = self._lowest, place
        doubtful_before = len(self._doubtful)
        self._depth += 1
        answer = self._answers[value] = self._work_out(value)
        self._depth -= 1
        del self._open[value]
        rests_on, self._lowest = self._lowest, min(around, self._lowest)
        if answer or rests_on == place:
            self._settle(doubtful_before, confirmed=not answer)
        if not answer and rests_on < place:
            self._doubtful[value] = rests_on
        return answer

    def _settle(self, before: int, *, confirmed: bool) -> None:
        """Keeps the doubtful answers that were given since, or forgets them."""
        while len(self._doubtful) > before:
            doubtful, _ = self._doubtful.popitem()
            if not confirmed:
                del self._answers[doubtful]

    def _work_out_ahead(self, value: Value) -> None:
        """Works out what a long chain is made of from its far end: recursion stays shallow."""
        ahead: dict[Value, None] = {}
        pending = [value]
        while pending:
            part = pending.pop()
            if part not in ahead and part not in self._answers and part not in self._open:
                ahead[part] = None
                pending.extend(self._parts(part))
        depth, self._depth = self._depth, 0
        for part in reversed(ahead):
            self.hold(part)
        self._depth = depth

    def _parts(self, value: Value) -> Iterator[Value]:
        """What a value is made of, as far as that is plain."""
        if isinstance(value, Binding):
            yield from value.before
            if value.value is not None:
                yield value.value
        elif isinstance(value, ast.Name):
            yield from self._bindings.reaching(value)
        else:
            yield from (part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))
