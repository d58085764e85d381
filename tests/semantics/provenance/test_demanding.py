"""Functions of torch that raise where their first argument is no tensor: run on torch, with what has a `.data` beside them."""

from __future__ import annotations

import inspect
from collections import namedtuple
from functools import reduce

import pytest

from torchlint.semantics.provenance.witnesses import DEMANDING

torch = pytest.importorskip("torch")
Output = namedtuple("Output", ["data", "loss"])
NO_TENSORS = {
    "named tuple": Output(torch.ones(2), torch.ones(2)),
    "packed sequence": torch.nn.utils.rnn.pack_sequence([torch.ones(3, 2)]),
    "list": [1.0, 2.0],
    "dict": {"data": 1},
    "number": 3.0,
}


@pytest.mark.parametrize("name", sorted(DEMANDING))
@pytest.mark.parametrize("value", NO_TENSORS.values(), ids=list(NO_TENSORS))
def test_raises(name: str, value: object) -> None:
    function = reduce(getattr, name.split(".")[1:], torch)
    with pytest.raises((TypeError, AttributeError)) as raised:
        function(*[value, *[torch.ones(2)] * (_required(function) - 1)])
    assert "missing" not in str(raised.value), "the arguments that are no point here have to be there"


def _required(function: object) -> int:
    """How many arguments a function takes at least, as far as it says."""
    try:
        parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 2 if getattr(function, "__name__", "") in ("matmul", "mm", "bmm", "dot", "topk", "linear", "conv2d") else 1
    return sum(each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)
