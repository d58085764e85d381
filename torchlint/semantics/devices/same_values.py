"""Whether a factory makes the very values, on a device and in a dtype, that a copy of its result would have."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.fact import CERTAIN, Fact, all_of, known, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.certainty.integers import Integers
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.tree import keyword
from torchlint.semantics.devices import factories

_RANGES = {
    **{"int8": (-(2**7), 2**7 - 1), "uint8": (0, 2**8 - 1), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1)},
    **{"int64": (-(2**63), 2**63 - 1), "float64": (-(2**53), 2**53), "float32": (-(2**24), 2**24)},
    **{"float16": (-(2**11), 2**11), "bfloat16": (-(2**8), 2**8)},
}
"""The integers that each dtype holds exactly."""
_EVERYWHERE = (0, 1)
"""The integers that every dtype holds, that of truth values too."""
_WIDE = frozenset({"int64", "float64", "int32", "float32"})
"""Dtypes that hold what a range counts: float32 up to 16,777,216, beyond which both ways round alike (run on torch 2.13)."""


class SameValues:
    """Tells of factories whether their values are the same wherever, and in whatever dtype, they are made."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._integers = semantics.of(Integers)

    def fact(self, factory: ast.Call, name: str, dtype: str | None) -> Fact:
        """Whether the values are the same where the factory makes them, and as ``dtype`` if that is not None.

        An empty ``dtype`` is one that is not known.
        """
        made = self._made_by_torch(factory, name)
        if name in factories.RANDOM_FLOATS | factories.RANDOM_INTEGERS:
            return unknown("another device draws other random numbers")
        if name in factories.COMPUTED:
            return unknown("the values are computed, and rounded otherwise elsewhere")
        if name == "arange":
            return made & self._in_usual_dtype & self._of_range(factory, dtype)
        if dtype is None or name in factories.EXACT:
            return made
        made &= self._in_usual_dtype
        if name == "tensor":
            return made & _fit(_integers(factory.args[0]) if factory.args else None, dtype)
        if name in factories.FILLED or name == "new_full":
            rounded = name in ("new_full", "full_like", "scalar_tensor") or keyword(factory, "dtype") is not None
            return made & _fit(_integers(factory.args[-1]) if factory.args else None, "" if rounded else dtype)
        return made if name in factories.INDICES and dtype in _WIDE else unknown("the values may not fit the dtype")

    @property
    def _in_usual_dtype(self) -> Fact:
        """Whether a factory that is told no dtype makes no narrower floats than `float32`."""
        setting = self._semantics.words.all & {"set_default_dtype", "set_default_tensor_type"}
        return known(not setting, "the values may be rounded to a default dtype first")

    def _made_by_torch(self, factory: ast.Call, name: str) -> Fact:
        """Whether the factory is torch's: of a method, what it is called on is a tensor."""
        if name in factories.METHODS and isinstance(factory.func, ast.Attribute):
            return self._semantics.of(Tensors).fact(factory.func.value)
        return CERTAIN

    def _of_range(self, factory: ast.Call, dtype: str | None) -> Fact:
        """A range: of integers where it is rounded in between, and with a step that is one where it has a step.

        ``start + i`` is rounded once, and alike everywhere; ``start + i * step`` is not. Cast to float32, a range of floats is
        what it was, and one of integers the same as if it were made so (run on torch 2.13).
        """
        if keyword(factory, "dtype") is not None and dtype is not None:
            return unknown("a range is rounded otherwise in another dtype")
        given = {word.arg: word.value for word in factory.keywords}
        ends = [*factory.args, *(given[name] for name in ("start", "end", "step") if name in given)]
        steps = [*factory.args[2:3], *(given[name] for name in ("step",) if name in given)]
        step = all_of(*(self._integers.fact(each) for each in steps))
        if dtype is None:
            return step
        counts = known(dtype in _WIDE, "the dtype may not hold what the range counts")
        stepless = known(not steps or "int" in dtype, "a range with a step is rounded otherwise as floats")
        start = ends[:1] if len(ends) > 1 else []
        whole = {"float32": [], "float64": start}.get(dtype, ends)
        return counts & stepless & all_of(*(self._integers.fact(each) for each in whole))


def _fit(values: Iterable[int] | None, dtype: str) -> Fact:
    """Whether a dtype holds some integers as they are; an empty one may be any."""
    if values is None:
        return unknown("the values may be rounded otherwise, or not fit the dtype")
    lowest, highest = _RANGES.get(dtype, _EVERYWHERE)
    return known(all(lowest <= value <= highest for value in values), "the values do not fit every dtype as they are")


def _integers(data: ast.expr) -> list[int] | None:
    """The integers, or truth values, that are written out, if nothing else is."""
    match data:
        case ast.Constant(value=int(value)):
            return [int(value)]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return [-int(value)]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            found = [_integers(part) for part in parts]
            return [value for each in found for value in each or ()] if all(each is not None for each in found) else None
    return None
