"""Calls of ``einsum`` and of einops that end with an error for their pattern, whatever the tensors hold."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.expected_errors import is_awaited
from torchlint.semantics.numerics.equations import Refusal, axes, refused_by_einops, refused_by_torch, subscripts, with_letters
from torchlint.semantics.shapes.ranks import Ranks

Node = TypeVar("Node")

_SUM = "torch.einsum"
_FUNCTIONS = {f"einops.{name}": name for name in ("rearrange", "reduce", "repeat")}
_LAYERS = {"einops.layers.torch.Rearrange": "rearrange", "einops.layers.torch.Reduce": "reduce"}
_WORDS = ("einsum", "rearrange", "reduce", "repeat", "Rearrange", "Reduce")


@dataclass(frozen=True, eq=False, slots=True)
class RefusedPattern(Generic[Node]):
    """The ``pattern`` of a call and the ``reason`` why that raises.

    ``meant`` is the pattern that would not, if the reason is how it is written; ``unused`` the length that is one too many.
    """

    pattern: Node
    reason: str
    meant: str | None = None
    unused: str = ""


class RefusedPatterns:
    """Looks at the patterns of one file that are written out."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def found(self) -> dict[ast.Call, RefusedPattern[ast.expr]]:
        """The calls that raise for their pattern, where nothing awaits that."""
        found: dict[ast.Call, RefusedPattern[ast.expr]] = {}
        for word in _WORDS:
            for call in self._semantics.facts.calls.get(word, ()):
                refused = self._refused(call)
                if refused is not None and not is_awaited(self._semantics.tree, call):
                    found[call] = refused
        return found

    def _refused(self, call: ast.Call) -> RefusedPattern[ast.expr] | None:
        name = self._semantics.qualified_name(call.func) or ""
        if name == _SUM:
            return self._sum(call)
        function = _FUNCTIONS.get(name) or _LAYERS.get(name)
        return self._rearranged(call, function, is_layer=name in _LAYERS) if function is not None else None

    def _sum(self, call: ast.Call) -> RefusedPattern[ast.expr] | None:
        match call.args:
            case [ast.Constant(value=str(equation)) as pattern, *operands]:
                pass
            case _:
                return None
        known = self._counted(operands)
        count = len(known) if known is not None else None
        refusal = refused_by_torch(equation, count) or self._unfitting(subscripts(equation), known or [])
        if refusal is None:
            return None
        meant = with_letters(equation)
        is_mended = meant is not None and refused_by_torch(meant, count) is None
        return RefusedPattern(pattern, refusal.reason, meant if is_mended else None)

    def _counted(self, operands: list[ast.expr]) -> list[ast.expr] | None:
        """The operands of a sum, one by one or in a list; ``None`` where it is not known how many there are."""
        match operands:
            case [ast.List(elts=parts) | ast.Tuple(elts=parts)]:
                pass
            case [single] if not self._semantics.kind(single).is_tensor:
                return None
            case _:
                parts = operands
        return parts if parts and not any(isinstance(part, ast.Starred) for part in parts) else None

    def _rearranged(self, call: ast.Call, function: str, *, is_layer: bool) -> RefusedPattern[ast.expr] | None:
        match call.args if not is_layer else [None, *call.args]:
            case [operand, ast.Constant(value=str(pattern)) as written, *_]:
                pass
            case _:
                return None
        named = [word.arg for word in call.keywords]
        lengths = frozenset(name for name in named if name is not None and not (function == "reduce" and name == "reduction"))
        refusal = refused_by_einops(function, pattern, lengths if None not in named else None)
        if refusal is None and isinstance(operand, ast.expr):
            refusal = self._unfitting([axes(pattern)], [operand])
        return RefusedPattern(written, refusal.reason, unused=refusal.unused) if refusal is not None else None

    def _unfitting(self, wanted: list[int | None], operands: list[ast.expr]) -> Refusal | None:
        """Why operands do not fit that have other numbers of dimensions."""
        ranks = self._semantics.of(Ranks)
        for number, operand in zip(wanted, operands):
            rank = ranks.of(operand)
            if None not in (number, rank) and number != rank and rank:
                return Refusal(f"`{ast.unparse(operand)}` has {rank} dimension{'s' if rank > 1 else ''}, and not {number}")
        return None
