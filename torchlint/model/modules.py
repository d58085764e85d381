"""Questions about libcst nodes: what is a module, and what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.semantics.modules.saved import SavedModules

if TYPE_CHECKING:
    from torchlint.model import Model


class ModulesQuestions:
    """What is a module, and what is in it. Made by the `Model`, as ``model.modules``."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._semantics = model.semantics

    def saved_whole(self, save: cst.Call) -> cst.BaseExpression | None:
        """The module that a ``torch.save`` writes to a file with its code's names; ``None`` if it saves something else."""
        return self._model.found(self._semantics.of(SavedModules).whole, save)
