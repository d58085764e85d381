"""Clipping that no step of an optimizer sees: of gradients that are used already, or of those that are wiped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import dotted, spoken_name
from torchlint.semantics.steps.acts import Acts, Deed
from torchlint.semantics.steps.rounds import Placed, Round, Rounds
from torchlint.semantics.steps.unseen import UnseenActs
from torchlint.semantics.training.optimizers import Optimizers, overlap

Node = TypeVar("Node")
Place = TypeVar("Place")

_BEYOND = 1e6
"""No norm of gradients that anybody trains with is as large."""
_INFINITE = frozenset({"math.inf", "torch.inf", "numpy.inf"})
_PARAMETERS = re.compile(r"param|weight|^p$|^w$", re.IGNORECASE)
"""What parameters are called where their model is not in sight."""


@dataclass(frozen=True, eq=False, slots=True)
class IdleClip(Generic[Node, Place]):
    """A clipping behind the ``step`` that should have used it; or, if ``is_early``, in front of the ``backward``.

    ``moved`` is the statement that can come before the statement ``before`` instead; ``None`` where that is not clear.
    """

    step: Node
    backward: Node
    is_early: bool
    moved: Place | None
    before: Place | None


class Clippings:
    """Finds the clippings of a file that come too late, or too early."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._optimizers = semantics.of(Optimizers)
        self._unseen = semantics.of(UnseenActs)

    @cached_property
    def idle(self) -> dict[ast.Call, IdleClip[ast.expr, ast.stmt]]:
        """The calls that clip gradients which no step uses."""
        found: dict[ast.Call, IdleClip[ast.expr, ast.stmt]] = {}
        useful: set[ast.Call] = set()
        if not any(act.deed is Deed.CLIP for act in self._semantics.of(Acts).all):
            return found
        for round_ in self._semantics.of(Rounds).whole:
            for clip in round_.of(Deed.CLIP):
                idle = None if self._only_measures(clip.act.call) else self._idle(clip, round_)
                if idle is None:
                    useful.add(clip.act.call)
                else:
                    found.setdefault(clip.act.call, idle)
        return {call: idle for call, idle in found.items() if call not in useful}

    def _only_measures(self, clip: ast.Call) -> bool:
        """Whether gradients are clipped at a norm that none has, to be told theirs: at ``math.inf``."""
        bound = next(
            (word.value for word in clip.keywords if word.arg == "max_norm"), clip.args[1] if len(clip.args) > 1 else None
        )
        match bound:
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))]):
                return text.strip().lower() in ("inf", "+inf", "infinity")
            case ast.Constant(value=int() | float() as number):
                return number >= _BEYOND
            case ast.Name() | ast.Attribute():
                return self._semantics.qualified_name(bound) in _INFINITE
        return False

    def _idle(self, clip: Placed, round_: Round) -> IdleClip[ast.expr, ast.stmt] | None:
        """How a clipping is idle, where the round does all of a training step, so that no other code does a part of it."""
        steps = [step for step in round_.of(Deed.STEP) if self._is_related(clip, step)]
        backwards = round_.of(Deed.BACKWARD)
        wipers = list(self._wipers(clip, steps, round_))
        if not wipers or not any(each.act.certain for each in steps) or not any(each.act.certain for each in backwards):
            return None
        if not clip.act.models and not _PARAMETERS.search(_spoken(clip.act.of)):
            return None
        if self._unseen.may_act(round_):
            return None
        if not any(self._leads(clip, step, wipers, round_) for step in steps):
            step, backward = self._before(clip, steps, round_), self._before(clip, backwards, round_)
            if step is None or backward is None or not any(round_.may_follow(each, step, wipers) for each in backwards):
                return None
            if not round_.may_follow(step, clip, backwards):
                return None  # what is clipped is newer than the step, and wiped before the next one
            return IdleClip(step.act.call, backward.act.call, False, *self._place(clip, step))
        if not any(self._leads(backward, clip, wipers, round_) for backward in backwards):
            behind = next((each for each in backwards if round_.may_follow(clip, each) and each.act.certain), None)
            if behind is None or not any(round_.may_follow(behind, step, wipers) for step in steps):
                return None
            return IdleClip(steps[0].act.call, behind.act.call, True, None, None)
        return None

    def _leads(self, one: Placed, other: Placed, wipers: list[Placed], round_: Round) -> bool:
        """Whether an act may be done after another with nothing wiped in between, in this run of the code or the next."""
        return round_.may_follow(one, other, wipers) or round_.may_come_again(one, other, wipers)

    def _before(self, clip: Placed, acts: list[Placed], round_: Round) -> Placed | None:
        """The last act that is done before a clipping with no other clipping in between."""
        found = [act for act in acts if act.act.certain and round_.may_follow(act, clip)]
        same = [act for act in found if len(act.chain) == len(clip.chain) and act.chain[:-1] == clip.chain[:-1]]
        return same[-1] if same else found[-1] if found else None

    def _is_related(self, clip: Placed, step: Placed) -> bool:
        """Whether a step may use the gradients that are clipped: not where both are known to be of other models."""
        trained = self._optimizers.trained(step.act.of) if step.act.of is not None else None
        if not clip.act.models or trained is None:
            return True
        pairs = [(model, other) for model in clip.act.models for other in trained]
        return any(overlap(model, other) or _last(model) == _last(other) for model, other in pairs)

    def _wipers(self, clip: Placed, steps: list[Placed], round_: Round) -> Iterator[Placed]:
        """The acts that surely wipe what is clipped: of the model, or of the only optimizer that uses it."""
        for zero in round_.of(Deed.ZERO):
            of = zero.act.of
            if of is None:
                continue
            is_of_model = clip.act.models == (dotted(of),)
            if is_of_model or (steps and all(step.act.of and self._is_same(of, step.act.of) for step in steps)):
                yield zero

    def _is_same(self, one: ast.expr, other: ast.expr) -> bool:
        makings = self._optimizers.makings(one), self._optimizers.makings(other)
        return self._optimizers.same(one, other) or (makings[0] is not None and makings[0] == makings[1])

    def _place(self, clip: Placed, step: Placed) -> tuple[ast.stmt | None, ast.stmt | None]:
        """The statement that clips, and that in the same block in front of which it belongs."""
        tree = self._semantics.tree
        statement, goal = tree.statement(clip.act.call), tree.statement(step.act.call)
        if not isinstance(statement, ast.Expr) or goal not in tree.block(statement) or goal.lineno > statement.lineno:
            return None, None
        return statement, goal


def _spoken(clipped: ast.expr | None) -> str:
    """The name of what is clipped: ``p`` of ``p.grad.data``."""
    if isinstance(clipped, (ast.List, ast.Tuple)) and clipped.elts:
        clipped = clipped.elts[0]
    while isinstance(clipped, ast.Attribute) and clipped.attr in ("grad", "data"):
        clipped = clipped.value
    return spoken_name(clipped) if clipped is not None else ""


def _last(model: str) -> str:
    """What a model is called, whoever keeps it: ``net`` of ``self.net``."""
    return model.rpartition(".")[2]
