"""Legacy constructors of tensors that do what they say."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.aliasing.shared_buffers import SharedBuffers
from torchlint.semantics.apis.constructors import Constructors
from torchlint.semantics.apis.two_meanings import Ambiguities, TwoMeanings
from torchlint.semantics.shapes.known_dtypes import KnownDtypes

_CASTS = {
    "float16": ("half",),
    "float32": ("float",),
    "float64": ("double",),
    "int16": ("short",),
    "int32": ("int",),
    "int64": ("long",),
}
"""The methods that give a tensor the dtype of a class."""
_SAME_DTYPE = frozenset(
    {"cuda", "cpu", "detach", "unsqueeze", "squeeze", "view", "reshape", "transpose", "permute", "contiguous"}
)
"""Methods on the way to them that leave the dtype."""


class DatedConstructions:
    """Tells them from those that may mean another thing than it seems."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._constructors = semantics.of(Constructors)
        self._ambiguities = semantics.of(Ambiguities)
        self._buffers = semantics.of(SharedBuffers)

    @cached_property
    def found(self) -> frozenset[ast.expr]:
        """The calls of constructors that are but dated, and the tests for classes of tensors.

        Such a call means one thing, and shares nothing that changes. Or nothing tells whether it is given a size or data, or it
        rounds one integer, which is not known to be large. Or it hands through what has its dtype anyway.
        """
        calls = (*self._constructors.made, *self._constructors.renewed)
        return frozenset({*filter(self._is_dated, calls), *self._constructors.tests})

    def _is_dated(self, call: ast.Call) -> bool:
        match self._ambiguities.found.get(call):
            case None:
                return call not in self._buffers.perhaps
            case TwoMeanings.ROUNDED:
                data = call.args[0]
                return isinstance(data, (ast.List, ast.Tuple)) and len(data.elts) == 1
            case TwoMeanings.ANY_DTYPE:
                return self._is_of_same_dtype(call) or self._is_cast(call)
            case meanings:
                return meanings is TwoMeanings.SIZE_OR_DATA

    def _is_of_same_dtype(self, call: ast.Call) -> bool:
        """Whether what is handed through is made of the dtype of the class, for all to see: `FloatTensor(torch.zeros(3))`."""
        made = self._constructors.made.get(call)
        if made is None or made.on_gpu or len(call.args) != 1:
            return False
        return self._semantics.of(KnownDtypes).of(call.args[0]) == (made.dtype or "float32")

    def _is_cast(self, call: ast.Call) -> bool:
        """Whether what is handed through, of any dtype, gets that of the class behind it: `torch.Tensor(x).cuda().float()`."""
        made = self._constructors.made.get(call)
        if made is None or made.on_gpu or made.chosen:
            return False
        casts, outer = _CASTS.get(made.dtype or "float32", ()), self._semantics.tree.parent(call)
        while isinstance(outer, ast.Attribute):
            if outer.attr in casts:
                return True
            called = self._semantics.tree.parent(outer)
            if outer.attr not in _SAME_DTYPE or not isinstance(called, ast.Call):
                return False
            outer = self._semantics.tree.parent(called)
        return False
