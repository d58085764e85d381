"""Questions about libcst nodes: which axes tensors have."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.model.joint import Joint
from torchlint.semantics.certainty.dimensions import Dimensions
from torchlint.semantics.shapes.batches import Batches
from torchlint.semantics.shapes.layouts import Layouts
from torchlint.semantics.shapes.scalars import Scalars
from torchlint.semantics.shapes.shuffles import Shuffle, Shuffles
from torchlint.semantics.shapes.squeezes import Meant, Squeezes
from torchlint.semantics.shapes.torn_views import TornViews


class ShapesQuestions:
    """Which axes tensors have. Made by the `Model`, as ``model.shapes``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def indexed_scalar(self, node: cst.Subscript) -> cst.BaseExpression | None:
        """The 0-dim tensor that ``loss.data.cpu()[0]`` indexes, ``loss``; ``None`` for every other item."""
        return self._model.found(self._semantics.of(Scalars).indexed, node)

    def has_no_dimensions(self, node: cst.BaseExpression) -> Fact:
        """Whether an expression is one number, of a tensor or by itself, that cannot be indexed; a fix can rest on it."""
        twin = self._model.twin(node)
        if not isinstance(twin, ast.expr):
            return unknown("it may have dimensions")
        return self._semantics.of(Dimensions).has_none(twin)

    def is_torn(self, view: cst.Call) -> bool:
        """Whether a ``view`` or ``view_as`` would have to merge axes that a transposition has torn apart, and so raises."""
        return self._model.twin(view) in self._semantics.of(TornViews).calls

    def is_batch(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is, on every path, a tensor whose first axis counts the items of a batch."""
        return bool(self._model.answered(self._semantics.of(Batches).is_batch, node))

    def is_output_before_loss(self, squeeze: cst.Call) -> bool:
        """Whether a call squeezes a model's output, of what a loader gives, on its way to a loss."""
        return bool(self._model.answered(self._semantics.of(Squeezes).is_output_before_loss, squeeze))

    def meant_by_squeeze(self, squeeze: cst.Call) -> Meant | None:
        """Which axis a `squeeze()` that names none is meant to drop; ``None`` where nothing tells."""
        meant: Meant | None = self._model.answered(self._semantics.of(Squeezes).meant, squeeze)
        return meant

    def rank(self, node: cst.BaseExpression) -> int | None:
        """How many axes a tensor has; ``None`` where that is not known."""
        layout = self._model.answered(self._semantics.of(Layouts).of, node)
        return layout.rank if layout is not None else None

    def shuffle(self, reshape: cst.Call) -> Shuffle | None:
        """How a ``view`` or ``reshape`` mixes up a tensor whose axes it names in another order; ``None`` if it does not."""
        return self._model.found(self._semantics.of(Shuffles).found, reshape)
