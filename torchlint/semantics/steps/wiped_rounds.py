"""Gradients that a round wipes before its step uses them, where functions of the file do a part of that."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.steps.acts import Deed
from torchlint.semantics.steps.rounds import Placed, Round, Rounds
from torchlint.semantics.steps.unseen import UnseenActs
from torchlint.semantics.steps.wiping import Wiped
from torchlint.semantics.training.optimizers import Optimizers


class WipedRounds:
    """Finds the calls of ``zero_grad`` in a file that come too soon, in whatever function they are."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._optimizers = semantics.of(Optimizers)

    @cached_property
    def found(self) -> dict[ast.Call, Wiped[ast.expr, ast.stmt]]:
        """The calls that wipe what a step should use, on every way from the backward to that."""
        found: dict[ast.Call, Wiped[ast.expr, ast.stmt]] = {}
        for round_ in self._semantics.of(Rounds).whole:
            acts = round_.of(Deed.BACKWARD, Deed.STEP, Deed.ZERO)
            if all(len(each.chain) == 1 for each in acts) or not self._has_one_optimizer(round_):
                continue
            steps, backwards, zeros = round_.of(Deed.STEP), round_.of(Deed.BACKWARD), round_.of(Deed.ZERO)
            for zero in zeros:
                wiped = next((each for each in backwards if self._is_wiped(each, zero, steps[0], round_)), None)
                if wiped is not None and not self._semantics.of(UnseenActs).may_act(round_):
                    found.setdefault(zero.act.call, Wiped(wiped.act.call, steps[0].act.call, None))
        return found

    def _has_one_optimizer(self, round_: Round) -> bool:
        """Whether a round surely makes one step, of an optimizer that is wiped in one place, with no closure."""
        steps, zeros = round_.of(Deed.STEP), round_.of(Deed.ZERO)
        if len(steps) != 1 or len(zeros) != 1 or not all(each.act.certain for each in round_.of(Deed.BACKWARD, Deed.STEP)):
            return False
        step, zero = steps[0].act, zeros[0].act
        if step.of is None or zero.of is None or (step.call.args and step.scaler is None):
            return False
        one, other = self._outermost(step.of, steps[0]), self._outermost(zero.of, zeros[0])
        makings = self._optimizers.makings(one), self._optimizers.makings(other)
        return self._optimizers.same(one, other) or (bool(makings[0]) and makings[0] == makings[1])

    def _outermost(self, optimizer: ast.expr, placed: Placed) -> ast.expr:
        """What the round gives for an optimizer that is a parameter of the function which uses it."""
        for call in reversed(placed.chain[:-1]):
            bindings = self._semantics.bindings.reaching(optimizer) if isinstance(optimizer, ast.Name) else ()
            binding = bindings[0] if len(bindings) == 1 and bindings[0].form is Form.PARAMETER else None
            function = binding.scope.node if binding is not None else None
            if binding is None or not isinstance(function, FUNCTIONS) or not isinstance(binding.node, ast.arg):
                return optimizer
            optimizer = self._semantics.facts.argument(call, function, binding.node) or optimizer
        return optimizer

    def _is_wiped(self, backward: Placed, zero: Placed, step: Placed, round_: Round) -> bool:
        backwards = round_.of(Deed.BACKWARD)
        return (
            round_.may_follow(backward, zero, avoiding=[step])
            and round_.may_follow(zero, step, avoiding=backwards)
            and not any(round_.may_follow(each, step, avoiding=[zero]) for each in backwards)
        )
