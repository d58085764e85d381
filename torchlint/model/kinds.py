"""Questions about libcst nodes: what values are, beyond `Model.kind`."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.model.joint import Joint
from torchlint.semantics import torch_api
from torchlint.semantics.certainty.likely_tensors import LikelyTensors
from torchlint.semantics.certainty.tensors import Tensors


class KindsQuestions:
    """What values are, beyond `Model.kind`. Made by the `Model`, as ``model.kinds``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def is_surely_tensor(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is taken for a tensor, on the text alone; what a fix rests on is `is_tensor`."""
        twin = self._model.twin(node)
        return isinstance(twin, ast.expr) and self._semantics.of(LikelyTensors).is_tensor(twin)

    def is_tensor(self, node: cst.BaseExpression) -> Fact:
        """Whether an expression is a tensor, as a fact that a fix can rest on."""
        twin = self._model.twin(node)
        return self._semantics.of(Tensors).fact(twin) if isinstance(twin, ast.expr) else unknown("it may be no tensor")

    def is_factory(self, call: cst.Call) -> bool:
        """Whether a call is one of torch's functions that make a tensor of nothing: ``torch.zeros(3)``."""
        return self._model.name(call.func) in torch_api.FACTORIES
