"""Questions about libcst nodes: what becomes of numbers."""

from __future__ import annotations

import libcst as cst

from torchlint.model.joint import Joint
from torchlint.semantics.numerics.broadcasts import Broadcast, Broadcasts
from torchlint.semantics.numerics.denominators import Denominators, WrongDenominator
from torchlint.semantics.numerics.learnt import LearntNumbers
from torchlint.semantics.numerics.refused_patterns import RefusedPattern, RefusedPatterns
from torchlint.semantics.numerics.unstable_logs import Unstable, UnstableLogs
from torchlint.semantics.scores.divergences import Divergences, Misgiven


class NumbersQuestions:
    """What becomes of numbers. Made by the `Model`, as ``model.numbers``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def unstable_log(self, call: cst.Call) -> Unstable[cst.BaseExpression] | None:
        """What a logarithm is taken of that may have overflowed or underflowed; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(UnstableLogs).found, call)

    def may_learn(self, call: cst.Call) -> bool:
        """Whether a backward pass may reach what is computed: not in tests, try-outs and files that learn nothing."""
        return bool(self._model.answered(self._semantics.of(LearntNumbers).may_learn, call))

    def wrong_denominator(self, divisor: cst.BaseExpression) -> WrongDenominator[cst.BaseExpression] | None:
        """What is divided by a loader's number of batches, or samples, and was summed by the other; ``None`` for all else."""
        return self._model.found(self._semantics.of(Denominators).found, divisor)

    def refused_pattern(self, call: cst.Call) -> RefusedPattern[cst.BaseExpression] | None:
        """Why a call of ``einsum``, or of einops, raises for its pattern; ``None`` where it does not."""
        return self._model.found(self._semantics.of(RefusedPatterns).found, call)

    def broadcast(self, node: cst.BaseExpression) -> Broadcast[cst.BaseExpression] | None:
        """The column and the vector that a loss or a figure is computed of; ``None`` for all else."""
        return self._model.found(self._semantics.of(Broadcasts).found, node)

    def is_mean_of_divergence(self, call: cst.Call) -> bool:
        """Whether a call of ``kl_div``, or of ``KLDivLoss``, asks for the mean over everything."""
        return self._model.twin(call) in self._semantics.of(Divergences).means

    def has_rows_of_rows(self, divergence: cst.Call) -> bool:
        """Whether what is compared is known to have more than two dimensions, or seems to have a place for each pixel."""
        return bool(self._model.answered(self._semantics.of(Divergences).has_rows_of_rows, divergence))

    def is_of_one_row(self, divergence: cst.Call) -> bool:
        """Whether what is compared is known to have one dimension alone, that of the classes."""
        return bool(self._model.answered(self._semantics.of(Divergences).is_of_one_row, divergence))

    def positional_reduction(self, divergence: cst.Call) -> cst.BaseExpression | None:
        """The reduction that a divergence is given by its place; ``None`` where it is given none so."""
        found: cst.BaseExpression | None = self._model.answered(
            self._semantics.of(Divergences).positional_reduction, divergence
        )
        return found

    def classes_of_divergence(self, divergence: cst.Call) -> cst.BaseExpression | None:
        """The number of the dimension that has the classes of what ``kl_div`` is given; ``None`` where that is not known."""
        found: cst.BaseExpression | None = self._model.answered(self._semantics.of(Divergences).classes, divergence)
        return found

    def misgiven_divergence(self, value: cst.BaseExpression) -> Misgiven[cst.BaseExpression] | None:
        """Why a value is not what the divergence expects that it is given to; ``None`` where that is not known."""
        return self._model.found(self._semantics.of(Divergences).misgiven, value)
