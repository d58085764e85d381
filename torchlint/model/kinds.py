"""Questions about libcst nodes: what values are, beyond `Model.kind`."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.model.joint import Joint
from torchlint.semantics.kinds.constructors import Constructors, Content, Given, TensorClass


class KindsQuestions:
    """What values are, beyond `Model.kind`. Made by the `Model`, as ``model.kinds``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def tensor_class(self, call: cst.Call) -> TensorClass[cst.BaseExpression] | None:
        """The class of tensors that is called, ``torch.FloatTensor(3)``; ``None`` for every other call."""
        return self._model.found(self._semantics.of(Constructors).made, call)

    def is_renewal(self, call: cst.Call) -> bool:
        """Whether a call is that of a tensor's ``new``, for all that is known."""
        return self._model.twin(call) in self._semantics.of(Constructors).renewed

    def tested_gpu_class(self, call: cst.Call) -> cst.BaseExpression | None:
        """The class of ``isinstance(x, torch.cuda.FloatTensor)``; ``None`` for every other call."""
        return self._model.found(self._semantics.of(Constructors).tests, call)

    def given(self, call: cst.Call) -> Given:
        """What a class of tensors, or ``new``, is called with: sizes, or data of some kind."""
        twin = self._model.twin(call)
        return self._semantics.of(Constructors).given(twin) if isinstance(twin, ast.Call) else Given(Content.UNKNOWN, False)

    def is_selector(self, call: cst.Call) -> bool:
        """Whether the file selects elements by the tensor that a call makes."""
        twin = self._model.twin(call)
        return isinstance(twin, ast.Call) and self._semantics.of(Constructors).selects(twin)

    @property
    def changes_default_dtype(self) -> bool:
        """Whether the file sets the dtype that tensors have by default."""
        return self._semantics.of(Constructors).changes_default_dtype
