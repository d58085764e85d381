"""Questions about libcst nodes: which objects values are, and who shares their memory."""

from __future__ import annotations

from torchlint.model.joint import Joint


class MemoryQuestions:
    """Which objects values are, and who shares their memory. Made by the `Model`, as ``model.memory``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics
