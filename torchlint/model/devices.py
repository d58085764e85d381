"""Questions about libcst nodes: where values are, and what waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.model import Model


class DevicesQuestions:
    """Where values are, and what waits for them. Made by the `Model`, as ``model.devices``."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._semantics = model.semantics
