"""Log-probabilities that a policy has given before, and that a loop back-propagates one by one, with a step behind each."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import dotted, last_name
from torchlint.semantics.steps.acts import Acts, Deed
from torchlint.semantics.steps.rounds import LoopRound, Rounds

_LOG_PROBS = re.compile(r"log_?p(rob(abilitie)?)?s?$", re.IGNORECASE)
"""What log-probabilities are called."""
_REDUCING = frozenset({"mean", "sum", "neg", "squeeze", "view", "unsqueeze"})
_GOING_THROUGH = frozenset({"zip", "enumerate", "reversed", "list", "tqdm"})
_DEEP = 6
"""So many steps may lie between an item and the loss that is made of it."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a loop goes through, items with a graph from before it, and the ``step`` behind each backward."""

    items: ast.expr
    step: ast.Call


class CollectedBackwards:
    """Finds the backward passes of a file that all but the first go through weights which have changed."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def found(self) -> dict[ast.Call, Collected]:
        """The backward calls, each with what its graph is from."""
        found: dict[ast.Call, Collected] = {}
        for act in self._semantics.of(Acts).all:
            loop = next(self._semantics.tree.loops(act.call), None)
            if act.deed is not Deed.BACKWARD or act.of is None or not isinstance(loop, ast.For):
                continue
            items = [part for part in _gone_through(loop.iter) if _LOG_PROBS.search(last_name(part))]
            if len(items) == 1 and self._is_made_of_items(act.of, loop):
                step = self._step(act.call, self._semantics.of(Rounds).of_loop(loop))
                if step is not None:
                    found[act.call] = Collected(items[0], step)
        return found

    def _is_made_of_items(self, loss: ast.expr, loop: ast.For, depth: int = _DEEP) -> bool:
        """Whether a loss is made of what the loop goes through and of numbers, so that no round has made its graph."""
        names = [part for part in ast.walk(loss) if isinstance(part, ast.Name)]
        return bool(names) and self._is_of_items(loss, loop, depth)

    def _is_of_items(self, node: ast.expr, loop: ast.For, depth: int) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(
                    self._semantics.tree.inside(each.node, loop.target)
                    if each.form is Form.LOOP
                    else each.form is Form.ASSIGNMENT
                    and not each.path
                    and each.value is not None
                    and self._semantics.tree.inside(each.node, loop)
                    and self._is_of_items(each.value, loop, depth - 1)
                    for each in bindings
                )
            case ast.UnaryOp(operand=operand):
                return self._is_of_items(operand, loop, depth)
            case ast.BinOp(left=left, right=right):
                return self._is_of_items(left, loop, depth) and self._is_of_items(right, loop, depth)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _REDUCING:
                return self._is_of_items(owner, loop, depth) and all(
                    isinstance(each, (ast.Constant, ast.UnaryOp)) for each in args
                )
        return False

    def _step(self, backward: ast.Call, round_: LoopRound) -> ast.Call | None:
        """The step that each round makes behind the backward, of an optimizer that is there before."""
        flow = self._semantics.control_flow
        changed = {part.id for part in ast.walk(round_.loop) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        for placed in round_.of(Deed.STEP):
            optimizer = placed.act.of
            if not placed.act.certain or optimizer is None or len(placed.chain) > 1:
                continue
            if (dotted(optimizer) or "").partition(".")[0] in changed:
                continue
            head = round_.loop.target if isinstance(round_.loop, ast.For) else round_.loop
            if not flow.may_follow(backward, head, avoiding=[placed.place]) and flow.may_follow(placed.place, backward):
                return placed.act.call
        return None


def _gone_through(iterable: ast.expr) -> Iterator[ast.expr]:
    """The variables and attributes whose items a loop goes through."""
    match iterable:
        case ast.Name() | ast.Attribute():
            yield iterable
        case ast.Call(func=ast.Name(id=name), args=args) if name in _GOING_THROUGH:
            for each in args:
                yield from _gone_through(each)
