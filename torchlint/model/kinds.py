"""Questions about libcst nodes: what values are, beyond `Model.kind`."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.model.joint import Joint
from torchlint.semantics import torch_api
from torchlint.semantics.kinds.certainty import Certainty


class KindsQuestions:
    """What values are, beyond `Model.kind`. Made by the `Model`, as ``model.kinds``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def is_surely_tensor(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a tensor for certain, on the text alone; a likely one is none."""
        twin = self._model.twin(node)
        return isinstance(twin, ast.expr) and self._semantics.of(Certainty).is_tensor(twin)

    def is_factory(self, call: cst.Call) -> bool:
        """Whether a call is one of torch's functions that make a tensor of nothing: ``torch.zeros(3)``."""
        return self._model.name(call.func) in torch_api.FACTORIES
