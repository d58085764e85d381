"""Questions about libcst nodes: whether values carry graph, and who needs that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.semantics.autograd.accumulation import Accumulations, Leak

if TYPE_CHECKING:
    from torchlint.model import Model


class AutogradQuestions:
    """Whether values carry graph, and who needs that. Made by the `Model`, as ``model.autograd``."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._semantics = model.semantics

    def accumulation(self, statement: cst.CSTNode) -> Leak[cst.BaseExpression] | None:
        """What a statement adds, with its graph, to something that outlives the loop; ``None`` if nothing."""
        return self._model.found(self._semantics.of(Accumulations).leaks, statement)
