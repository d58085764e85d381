"""Calls of ``torch.tensor`` with what is a tensor already."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.certainty.belied import BeliedAnnotations
from torchlint.semantics.certainty.likely_tensors import LikelyTensors, TypeTests
from torchlint.semantics.code.tree import keyword
from torchlint.semantics.kinds.asked import AskedTensors

_MAKER = "torch.tensor"


class CopiedTensors:
    """Finds them in a file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def found(self) -> dict[ast.Call, bool]:
        """The calls, each with whether its argument is a tensor on every path, and not only where the code asks for that."""
        likely, asked = self._semantics.of(LikelyTensors), self._semantics.of(AskedTensors)
        found: dict[ast.Call, bool] = {}
        for call in self._semantics.of(Spellings).calls({"tensor"}):
            data = _data(call)
            if data is None or self._semantics.qualified_name(call.func) != _MAKER:
                continue
            if likely.is_tensor(data) and not self._is_belied(data):
                found[call] = True
            elif not likely.is_tensor(data) and (asked.are_read_either_way(data) or self._is_given_tensors(data)):
                found[call] = False
        return found

    def _is_belied(self, data: ast.expr) -> bool:
        """Whether a call in the file gives something else than a tensor for the parameter that is annotated as one."""
        bindings = self._semantics.bindings.reaching(data) if isinstance(data, ast.Name) else ()
        return any(map(self._semantics.of(BeliedAnnotations).is_belied, bindings))

    def _is_given_tensors(self, data: ast.expr) -> bool:
        """Whether all calls of a function in the file give a tensor for the parameter that it always makes one of."""
        bindings = self._semantics.bindings.reaching(data) if isinstance(data, ast.Name) else ()
        if len(bindings) != 1 or self._semantics.of(TypeTests).ask_about(bindings[0]):
            return False
        if self._semantics.tree.parent(self._semantics.tree.statement(data)) is not bindings[0].scope.node:
            return False
        given = self._semantics.inference.given(bindings[0])
        likely = self._semantics.of(LikelyTensors)
        return bool(given) and all(each is not None and likely.is_tensor(each) for each in given)


def _data(call: ast.Call) -> ast.expr | None:
    """The argument that is made a tensor; none where it is not the only one that is given by its place."""
    if call.args:
        return call.args[0] if len(call.args) == 1 and not isinstance(call.args[0], ast.Starred) else None
    return keyword(call, "data")
