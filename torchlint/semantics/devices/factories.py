"""Functions that make tensors: the dtypes that they give on their own, and those that they could give."""

from __future__ import annotations

import ast

from torchlint.semantics.code.tree import keyword

EXACT = frozenset(
    {"zeros", "ones", "empty", "eye", "zeros_like", "ones_like", "empty_like", "new_zeros", "new_ones", "new_empty"}
)
"""Factories whose values are the same in each dtype."""
FILLED = frozenset({"full", "full_like", "scalar_tensor"})
INDICES = frozenset({"tril_indices", "triu_indices"})
COMPUTED = frozenset(
    {*("linspace", "logspace"), *("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")}
)
RANDOM_FLOATS = frozenset({"rand", "randn", "rand_like", "randn_like", "normal"})
RANDOM_INTEGERS = frozenset({"randint", "randperm", "randint_like"})
METHODS = frozenset({"new_zeros", "new_ones", "new_empty", "new_full"})
"""Factories that are methods of tensors."""
FUNCTIONS = frozenset({*EXACT, *FILLED, *INDICES, *COMPUTED, *RANDOM_FLOATS, *RANDOM_INTEGERS, "arange", "tensor"}) - METHODS
"""Factories that are functions of torch."""
LIKE = frozenset({name for name in FUNCTIONS if name.endswith("_like")} | METHODS)
"""Factories that take their dtype and device from another tensor, which is mostly where it is wanted."""

_FLOATS = frozenset({"float32", "float64", "float16", "bfloat16"})


def is_fractional(factory: ast.Call) -> bool:
    """Whether an argument of a range is, or is computed with, a number that is no integer."""
    return any(
        (isinstance(part, ast.Constant) and isinstance(part.value, float))
        or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div))
        for argument in factory.args
        for part in ast.walk(argument)
    )


def dtypes(data: ast.expr) -> frozenset[str]:
    """The dtype that ``torch.tensor`` gives written-out data; nothing where it is not written out."""
    match data:
        case ast.Constant(value=bool()):
            return frozenset({"bool"})
        case ast.Constant(value=int()):
            return frozenset({"int64"})
        case ast.Constant(value=float()):
            return frozenset({"float32"})
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return dtypes(operand)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) if parts:
            found = [dtypes(part) for part in parts]
            if not all(found):
                return frozenset()
            joined = frozenset[str]().union(*found)
            return frozenset({"float32"}) if "float32" in joined else frozenset({"int64"}) if "int64" in joined else joined
    return frozenset()


def may_make(factory: ast.Call, name: str, dtype: str) -> bool:
    """Whether a factory can make the values with a dtype that a cast would have given them (empty where it is not known)."""
    if name in EXACT:
        return True
    if keyword(factory, "dtype") is not None:
        return False
    if name in RANDOM_FLOATS | COMPUTED or (name == "arange" and is_fractional(factory)):
        return dtype in _FLOATS or not dtype
    if name in INDICES:
        return dtype in ("int32", "int64")
    return dtype != "bool" or name in ("tensor", *FILLED)


def is_changed_by(factory: ast.Call, name: str, dtype: str) -> bool:
    """Whether a cast to ``dtype`` makes another tensor of what a factory gives, of values that it could have made."""
    if keyword(factory, "dtype") is not None or name in LIKE:
        return True
    if name in ("tensor", "full", "scalar_tensor"):
        found = dtypes(factory.args[-1]) if factory.args else frozenset()
        return dtype not in (found or {"float32", "int64", "bool"}) and (name != "tensor" or bool(found and dtype))
    if name == "arange":
        return dtype != ("float32" if is_fractional(factory) else "int64")
    return dtype != ("int64" if name in RANDOM_INTEGERS | INDICES else "float32")
