"""Questions about libcst nodes: which axes tensors have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.semantics.shapes.scalars import Scalars
from torchlint.semantics.shapes.torn_views import TornViews

if TYPE_CHECKING:
    from torchlint.model import Model


class ShapesQuestions:
    """Which axes tensors have. Made by the `Model`, as ``model.shapes``."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._semantics = model.semantics

    def indexed_scalar(self, node: cst.Subscript) -> cst.BaseExpression | None:
        """The 0-dim tensor that ``loss.data.cpu()[0]`` indexes, ``loss``; ``None`` for every other item."""
        return self._model.found(self._semantics.of(Scalars).indexed, node)

    def is_torn(self, view: cst.Call) -> bool:
        """Whether a ``view`` or ``view_as`` would have to merge axes that a transposition has torn apart, and so raises."""
        return self._model.twin(view) in self._semantics.of(TornViews).calls
