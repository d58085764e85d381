"""Questions about libcst nodes: what is a module, and what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.model import Model


class ModulesQuestions:
    """What is a module, and what is in it. Made by the `Model`, as ``model.modules``."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._semantics = model.semantics
