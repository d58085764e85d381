"""Calls whose successor takes other arguments, and members of values that have another name: typed by hand, and run beside."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from torchlint.fixes.code import api, argument, expression, is_open_ended, keyword, positional

MEMBERS = {
    **{
        f"torchvision.datasets.{home}MNIST.{part}_{old}": new
        for home in ("", "mnist.")
        for part in ("train", "test")
        for old, new in (("data", "data"), ("labels", "targets"))
    },
    "torch.nn.Module.register_backward_hook": "register_full_backward_hook",
    "torch.utils.data.ConcatDataset.cummulative_sizes": "cumulative_sizes",
}
"""What a method or an attribute of a value is called now."""
SUCCESSORS = {
    **{f"torch.{name}": f"torch.linalg.{name}" for name in ("qr", "cholesky", "matrix_rank", "lu_solve")},
    **{f"torch.Tensor.{name}": f"torch.linalg.{name}" for name in ("qr", "cholesky")},
    **dict.fromkeys(("torch.symeig", "torch.Tensor.symeig"), "torch.linalg.eigh"),
    **MEMBERS,
}
"""What to say that is to be used, where the table has no one answer."""
RUN_BESIDE = frozenset({"torch.qr", "torch.cholesky", "torch.lu_solve", "torch.range"})
"""What was run beside its replacement, to the same results (`tests/rules/test_other_shapes.py`)."""
_SAME_OF_ANY_STORAGE = frozenset({"data_ptr", "nbytes", "is_shared", "share_memory_", "is_pinned"})
"""Methods of a storage that count no elements: the untyped one gives the same."""


def reshaped(symbol: str, call: cst.Call) -> cst.Call | None:
    """The call of what is to be used in place of ``symbol``, with the arguments where it wants them; ``None`` if not clear."""
    made = _SHAPES.get(symbol)
    if made is None or is_open_ended(call):
        return None
    return made(call)


def _qr(call: cst.Call) -> cst.Call | None:
    given = _given(call, "input", "some", out="out")
    mode = {"True": [], "False": [keyword("mode", cst.SimpleString('"complete"'))]}.get(_flag(given, "some", "True"))
    if "input" not in given or mode is None:
        return None
    return _called("torch.linalg.qr", [cst.Arg(given["input"]), *mode, *_out(given)])


def _cholesky(call: cst.Call) -> cst.Call | None:
    given = _given(call, "input", "upper", out="out")
    if "input" not in given:
        return None
    upper = [] if _flag(given, "upper", "False") == "False" else [keyword("upper", given["upper"])]
    return _called("torch.linalg.cholesky", [cst.Arg(given["input"]), *upper, *_out(given)])


def _symeig(call: cst.Call) -> cst.Call | None:
    given = _given(call, "input", "eigenvectors", "upper")
    triangle = {"True": '"U"', "False": '"L"'}.get(_flag(given, "upper", "True"))
    if "input" not in given or triangle is None:
        return None
    return _called("torch.linalg.eigh", [cst.Arg(given["input"]), keyword("UPLO", cst.SimpleString(triangle))])


def _matrix_rank(call: cst.Call) -> cst.Call | None:
    given = _given(call, "input", "tol", "symmetric")
    if "input" not in given:
        return None
    words = [keyword(new, given[old]) for old, new in (("tol", "tol"), ("symmetric", "hermitian")) if old in given]
    return _called("torch.linalg.matrix_rank", [cst.Arg(given["input"]), *words])


def _lu_solve(call: cst.Call) -> cst.Call | None:
    names = ("input", "LU_data", "LU_pivots")
    given = _given(call, *names, out="out")
    if not given.keys() >= set(names):
        return None
    factors, pivots, right = (cst.Arg(given[name]) for name in (*names[1:], names[0]))
    return _called("torch.linalg.lu_solve", [factors, pivots, right, *_out(given)])


def _range(call: cst.Call) -> cst.Call | None:
    """Of whole numbers that are written out: how a range of others ends depends on how they are rounded."""
    given = _given(call, "start", "end", "step", out="dtype")
    if not given.keys() >= {"start", "end"}:
        return None
    start, end = _whole(given["start"]), _whole(given["end"])
    step = _whole(given.get("step", cst.Integer("1")))
    if start is None or end is None or not step or (end - start) * step < 0:
        return None
    stop = start + ((end - start) // step + 1) * step
    arguments = [cst.Arg(expression(str(number))) for number in (start, stop, *((step,) if step != 1 else ()))]
    dtype = given.get("dtype", cst.Name("None"))
    is_given = not (isinstance(dtype, cst.Name) and dtype.value == "None")
    kind = dtype if is_given else cst.Call(api("torch.get_default_dtype"))
    return _called("torch.arange", [*arguments, keyword("dtype", kind)])


def _storage(call: cst.Call) -> cst.Call | None:
    assert isinstance(call.func, cst.Attribute)
    return call.with_changes(func=call.func.with_changes(attr=cst.Name("untyped_storage")))


def of_storage(method: str) -> bool:
    """Whether a method of a storage gives the same of an untyped one."""
    return method in _SAME_OF_ANY_STORAGE


def _sample_n(call: cst.Call) -> cst.Call | None:
    assert isinstance(call.func, cst.Attribute)
    match positional(call):
        case [count] if len(call.args) == 1:
            shape = cst.Tuple([cst.Element(count, comma=cst.Comma())])
            return call.with_changes(func=call.func.with_changes(attr=cst.Name("sample")), args=[cst.Arg(shape)])
    return None


_SHAPES: dict[str, Callable[[cst.Call], cst.Call | None]] = {
    "torch.qr": _qr,
    "torch.cholesky": _cholesky,
    "torch.symeig": _symeig,
    "torch.matrix_rank": _matrix_rank,
    "torch.lu_solve": _lu_solve,
    "torch.range": _range,
    "torch.Tensor.storage": _storage,
    "torch.distributions.Distribution.sample_n": _sample_n,
}


def _given(call: cst.Call, *names: str, out: str = "") -> dict[str, cst.BaseExpression]:
    """What a call gives for its parameters, by their names; nothing where it gives something else as well."""
    values = positional(call)
    found = dict(zip(names, values, strict=False))
    for name in (*names, out):
        given = argument(call, name) if name else None
        if given is not None:
            found[name] = given.value
    return found if len(found) == len(call.args) and len(values) <= len(names) else {}


def _flag(given: dict[str, cst.BaseExpression], name: str, default: str) -> str:
    """A flag that is written out, or not given; empty for any other."""
    value = given.get(name, cst.Name(default))
    return value.value if isinstance(value, cst.Name) and value.value in ("True", "False") else ""


def _out(given: dict[str, cst.BaseExpression]) -> list[cst.Arg]:
    return [keyword("out", given["out"])] if "out" in given else []


def _whole(node: cst.BaseExpression) -> int | None:
    """A whole number that is written out."""
    match node:
        case cst.Integer():
            return int(node.evaluated_value)
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() as number):
            return -int(number.evaluated_value)
    return None


def _called(name: str, arguments: list[cst.Arg]) -> cst.Call:
    blank = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    last = len(arguments) - 1
    spaced = [each.with_changes(comma=blank) if place < last else each for place, each in enumerate(arguments)]
    return cst.Call(api(name), spaced)
