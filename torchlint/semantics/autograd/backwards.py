"""The calls that add to gradients."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.kinds.evidence import is_engine_backward

BACKWARDS = frozenset({"backward", "manual_backward"})
"""What methods and functions are called that back-propagate."""


@dataclass(frozen=True, slots=True, eq=False)
class Backward:
    """A call that adds to gradients, and what it back-propagates."""

    call: ast.Call
    loss: ast.expr


class Backwards:
    """Finds the calls of a file that surely add to gradients."""

    def __init__(self, semantics: Semantics) -> None:
        self._names = semantics.names
        self._facts = semantics.facts
        self._inference = semantics.inference

    @cached_property
    def all(self) -> list[Backward]:
        """The calls that surely add to gradients."""
        found: list[Backward] = []
        for name in BACKWARDS:
            for call in self._facts.calls.get(name, ()):
                loss = self.propagated_by(call)
                if loss is not None:
                    found.append(Backward(call, loss))
        return sorted(found, key=lambda backward: _position(backward.call))

    def propagated_by(self, call: ast.Call) -> ast.expr | None:
        """What a call surely back-propagates: ``loss`` of ``loss.backward()``; ``None`` if nothing is known to be."""
        if last_name(call.func) not in BACKWARDS:
            return None
        if self._names.qualified(call.func) == "torch.autograd.backward" or is_engine_backward(call):
            return call.args[0] if call.args else None
        if isinstance(call.func, ast.Attribute) and self._inference.kind(call.func.value).is_tensor:
            return call.func.value
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.BinOp) and not call.args:
            return call.func.value if not self._inference.kind(call.func.value).known else None
        if isinstance(call.func, ast.Attribute) and isinstance(result := call.func.value, ast.Call) and not call.args:
            if isinstance(result.func, ast.Attribute) and result.func.attr == "scale" and result.args:
                return result.args[0]
            return result if not self._inference.kind(result).known else None
        return None


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
