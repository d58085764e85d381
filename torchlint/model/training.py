"""Questions about libcst nodes: what a training program does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

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
