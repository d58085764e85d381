"""Questions about libcst nodes: what values are, beyond `Model.kind`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.model import Model


class KindsQuestions:
    """What values are, beyond `Model.kind`. Made by the `Model`, as ``model.kinds``."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._semantics = model.semantics
