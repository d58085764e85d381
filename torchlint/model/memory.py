"""Questions about libcst nodes: which objects values are, and who shares their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.model import Model


class MemoryQuestions:
    """Which objects values are, and who shares their memory. Made by the `Model`, as ``model.memory``."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._semantics = model.semantics
