"""Questions about libcst nodes: what values are, beyond `Model.kind`."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.model.joint import Joint
from torchlint.semantics import torch_api
from torchlint.semantics.certainty.copied_tensors import CopiedTensors
from torchlint.semantics.certainty.default_devices import DefaultDevices
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.kinds.asked import AskedTensors

_SHARING = frozenset({"torch.from_numpy", "torch.from_dlpack", "torch.frombuffer", "torch.from_file"})
"""Factories whose tensors look at memory that is there already."""


class KindsQuestions:
    """What values are, beyond `Model.kind`. Made by the `Model`, as ``model.kinds``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def is_tensor_copied(self, call: cst.Call) -> bool | None:
        """Whether what a call of ``torch.tensor`` is given is a tensor already, on every path.

        ``False`` where it is one only on some, by what the code asks; ``None`` where it is none, and for every other call.
        """
        found: bool | None = self._model.found(self._semantics.of(CopiedTensors).found, call)
        return found

    def is_tensor(self, node: cst.BaseExpression) -> Fact:
        """Whether an expression is a tensor, as a fact that a fix can rest on."""
        twin = self._model.twin(node)
        return self._semantics.of(Tensors).fact(twin) if isinstance(twin, ast.expr) else unknown("it may be no tensor")

    def is_tested_to_be_none(self, node: cst.BaseExpression) -> bool:
        """Whether a variable is read where a test around has just found it to be no tensor."""
        return bool(self._model.answered(self._semantics.of(AskedTensors).are_none, node))

    def is_copied_beside(self, call: cst.Call) -> Fact:
        """Whether ``torch.tensor(x)`` makes its copy on the device that ``x`` is on, as a fact that a fix can rest on."""
        fact: Fact | None = self._model.answered(self._semantics.of(DefaultDevices).fact, call)
        return fact if fact is not None else unknown("another device may be set")

    def is_factory(self, call: cst.Call) -> bool:
        """Whether a call is one of torch's functions that make a tensor of nothing: ``torch.zeros(3)``."""
        return self._model.name(call.func) in torch_api.FACTORIES

    def makes_memory(self, call: cst.Call) -> bool:
        """Whether a call is one of torch's functions that make a tensor with its own memory of nothing: ``torch.zeros(3)``."""
        is_given = any(each.keyword is not None and each.keyword.value == "out" for each in call.args)
        return self._model.name(call.func) in torch_api.FACTORIES - _SHARING and not is_given
