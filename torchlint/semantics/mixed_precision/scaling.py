"""What is done with gradients of a scaled loss before they are unscaled: they are clipped, or a plain step uses them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.conditions.exclusive import Conditions
from torchlint.semantics.steps.acts import Act, Acts, Deed
from torchlint.semantics.steps.rounds import Placed, Round, Rounds
from torchlint.semantics.steps.unseen import UnseenActs
from torchlint.semantics.training.optimizers import Optimizers

Node = TypeVar("Node")

_AMP = re.compile(r"(?<![a-z])amp|scaler|fp16|half|precision|apex|bf16|mixed", re.IGNORECASE)
"""What conditions say that ask how the loss was scaled."""


@dataclass(frozen=True, eq=False, slots=True)
class ClippedScaled(Generic[Node]):
    """The gradients of ``backward``, scaled by ``scaler``, that are clipped before ``optimizer`` is unscaled.

    ``optimizer`` is ``None`` where it is not clear which is to be unscaled in front of the clipping. With ``is_look``, they
    are not clipped, but a figure is made of them.
    """

    backward: Node
    scaler: Node
    optimizer: Node | None
    is_look: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class SteppedScaled(Generic[Node]):
    """The gradients of ``backward``, scaled by ``scaler``, that a plain step of ``optimizer`` uses."""

    backward: Node
    scaler: Node
    optimizer: Node


class ScaledGradients:
    """Finds what uses the scaled gradients of a file as if they were not."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._acts = semantics.of(Acts)
        self._rounds = semantics.of(Rounds)
        self._unseen = semantics.of(UnseenActs)

    @cached_property
    def clipped(self) -> dict[ast.Call, ClippedScaled[ast.expr]]:
        """The calls that clip scaled gradients, or make figures of them."""
        found: dict[ast.Call, ClippedScaled[ast.expr]] = {}
        for round_ in self._scaling:
            for clip in [*round_.of(Deed.CLIP), *round_.of(Deed.LOOK)]:
                if clip.act.deed is Deed.LOOK and any(each.act.call in found for each in round_.of(Deed.CLIP, Deed.LOOK)):
                    break  # which is told of once
                backward = self._scaled_at(clip, round_)
                if backward is not None and clip.act.call not in found and self._is_stepped(clip, round_):
                    assert backward.act.scaler is not None
                    optimizer = self._to_unscale(clip, backward, round_)
                    is_look = clip.act.deed is Deed.LOOK
                    found[clip.act.call] = ClippedScaled(backward.act.call, backward.act.scaler, optimizer, is_look)
        return found

    @cached_property
    def stepped(self) -> dict[ast.Call, SteppedScaled[ast.expr]]:
        """The plain steps that use scaled gradients."""
        found: dict[ast.Call, SteppedScaled[ast.expr]] = {}
        for round_ in self._scaling:
            for step in round_.of(Deed.STEP):
                if step.act.scaler is not None or not step.act.certain or step.act.call in found:
                    continue
                backward = self._scaled_at(step, round_)
                if backward is None or self._is_stepped_by_scaler(step, backward, round_):
                    continue
                assert backward.act.scaler is not None and step.act.of is not None
                found[step.act.call] = SteppedScaled(backward.act.call, backward.act.scaler, step.act.of)
        return found

    @cached_property
    def _scaling(self) -> list[Round]:
        """The rounds in which a scaled loss is back-propagated."""
        if not any(act.scaler is not None for act in self._acts.all):
            return []
        return [round_ for round_ in self._rounds.all if any(_is_scaled(placed.act) for placed in round_.of(Deed.BACKWARD))]

    # --- what is scaled ----------------------------------------------------------------------------------------------

    def _scaled_at(self, use: Placed, round_: Round) -> Placed | None:
        """The backward whose gradients are still scaled where an act uses them, for all that the file shows."""
        ends = [each for each in round_.of(Deed.STEP, Deed.UPDATE, Deed.ZERO) if each is not use]
        for backward in round_.of(Deed.BACKWARD):
            if not _is_scaled(backward.act) or backward.place is use.place is not use.act.call:
                continue
            if round_.exclude(backward, use) or self._asks_for_scaling(use, backward):
                continue
            if round_.may_follow(backward, use, avoiding=ends) and not self._may_be_unscaled(backward, use, round_):
                return backward
        return None

    def _asks_for_scaling(self, use: Placed, backward: Placed) -> bool:
        """Whether a condition around the use asks in other words than that around the backward, if any, what was scaled."""
        conditions = self._semantics.of(Conditions)
        known = {test for call in backward.chain for test in conditions.of(call)}
        asked = {test for call in use.chain for test in conditions.of(call)}
        return any(_AMP.search(test) for test in asked - known)

    def _may_be_unscaled(self, backward: Placed, use: Placed, round_: Round) -> bool:
        """Whether anything between a backward and a use may unscale the gradients."""
        scaled = [each for each in round_.of(Deed.BACKWARD) if _is_scaled(each.act)]
        if any(round_.may_follow(unscale, use, avoiding=scaled) for unscale in round_.of(Deed.UNSCALE)):
            return True
        assert backward.act.scaler is not None
        return self._unseen.may_unscale(backward.act.scaler, backward, use)

    # --- what comes of it --------------------------------------------------------------------------------------------

    def _is_stepped(self, clip: Placed, round_: Round) -> bool:
        """Whether a step through a scaler uses what was clipped: in the round, or in a function that does no more than that."""
        steps = [step for step in round_.of(Deed.STEP) if step.act.scaler is not None]
        if not steps:
            return not round_.of(Deed.STEP) and any(act.deed is Deed.STEP and act.scaler is not None for act in self._acts.all)
        return any(round_.may_follow(clip, step) and not round_.exclude(clip, step) for step in steps)

    def _is_stepped_by_scaler(self, step: Placed, backward: Placed, round_: Round) -> bool:
        """Whether the same optimizer may make its step through the scaler as well, on another path."""
        optimizers = self._semantics.of(Optimizers)
        return any(
            other.act.scaler is not None
            and other.act.of is not None
            and step.act.of is not None
            and not optimizers.apart(other.act.of, step.act.of)
            and round_.may_follow(backward, other)
            for other in round_.of(Deed.STEP)
        )

    def _to_unscale(self, clip: Placed, backward: Placed, round_: Round) -> ast.expr | None:
        """The optimizer that can be unscaled in front of the clipping; ``None`` where that would raise, or is not clear."""
        flow, steps = self._semantics.control_flow, [each for each in round_.of(Deed.STEP) if each.act.scaler is not None]
        here = flow.scope(clip.act.call)
        optimizers = {dotted(step.act.of) for step in steps if step.act.of is not None}
        scaler = dotted(backward.act.scaler) if backward.act.scaler is not None else None
        if len(optimizers) != 1 or None in optimizers or scaler is None:
            return None
        if any(flow.scope(each.act.call) is not here for each in (*steps, backward)) or round_.of(Deed.UNSCALE):
            return None
        updates = [each.act.call for each in round_.of(Deed.UPDATE)]
        if flow.may_follow(clip.act.call, clip.act.call, avoiding=updates) or len(clip.chain) > 1:
            return None
        if any(
            round_.may_follow(clip, each, avoiding=round_.of(Deed.UPDATE)) for each in round_.of(Deed.CLIP) if each is not clip
        ):
            return None
        return steps[0].act.of


def _is_scaled(act: Act) -> bool:
    return act.deed is Deed.BACKWARD and act.scaler is not None
