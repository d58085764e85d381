"""Questions about libcst nodes: what a training program does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.semantics.training.uncalled import Lacks, Uncalled
from torchlint.semantics.training.zeroing import PiledUp, Zeroing

if TYPE_CHECKING:
    from torchlint.model import Model


class TrainingQuestions:
    """What a training program does. Made by the `Model`, as ``model.training``."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._semantics = model.semantics

    def piled_up(self, step: cst.Call) -> PiledUp[cst.BaseExpression, cst.CSTNode] | None:
        """What a step of an optimizer uses of former rounds, as nothing zeroes it; ``None`` if nothing."""
        return self._model.found(self._semantics.of(Zeroing).piles, step)

    def uncalled(self, function: cst.BaseExpression) -> Lacks | None:
        """What a method lacks that is a statement of its own, and would act on something; ``None`` for everything else."""
        return self._model.found(self._semantics.of(Uncalled).functions, function)

    def is_uncalled_context(self, item: cst.BaseExpression) -> bool:
        """Whether a ``with`` is given a class of context managers, ``torch.no_grad``, in the place of one."""
        return self._model.twin(item) in self._semantics.of(Uncalled).contexts
