"""Questions about libcst nodes: what is written where, and what names mean."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.semantics.code.attributes import Attributes

if TYPE_CHECKING:
    from torchlint.model import Model


class CodeQuestions:
    """What is written where, and what names mean. Made by the `Model`, as ``model.code``."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._semantics = model.semantics

    def gives_meaning(self, owner: cst.BaseExpression, name: str) -> bool:
        """Whether the file gives the attribute ``owner.name`` a meaning of its own; also where nothing is known of it."""
        twin = self._model.twin(owner)
        return not isinstance(twin, ast.expr) or self._semantics.of(Attributes).gives_meaning(twin, name)
