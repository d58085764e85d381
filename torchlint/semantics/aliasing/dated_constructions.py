"""Legacy constructors of tensors that do what they say."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.aliasing.shared_buffers import SharedBuffers
from torchlint.semantics.apis.constructors import Constructors
from torchlint.semantics.apis.two_meanings import Ambiguities, TwoMeanings


class DatedConstructions:
    """Tells them from those that may mean another thing than it seems."""

    def __init__(self, semantics: Semantics) -> None:
        self._constructors = semantics.of(Constructors)
        self._ambiguities = semantics.of(Ambiguities)
        self._buffers = semantics.of(SharedBuffers)

    @cached_property
    def found(self) -> frozenset[ast.expr]:
        """The calls of constructors that are but dated, and the tests for classes of tensors.

        Such a call means one thing, and shares nothing that changes. Or nothing tells whether it is given a size or data, or it
        rounds one integer, which is not known to be large.
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
            case meanings:
                return meanings is TwoMeanings.SIZE_OR_DATA
