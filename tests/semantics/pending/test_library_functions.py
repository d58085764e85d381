"""What functions of Python's libraries do with what they are given."""

from __future__ import annotations

import pytest

from torchlint.semantics.pending.library_functions import (
    calls_what_it_is_given,
    computes,
    hands_back,
    is_of_python,
    keeps_nothing,
)


@pytest.mark.parametrize("name", ["heapq.heappush", "bisect.insort", "operator.iconcat", "functools.partial", "builtins.map"])
def test_keeping(name: str) -> None:
    assert is_of_python(name)
    assert not keeps_nothing(name)


@pytest.mark.parametrize("name", ["builtins.print", "math.sqrt", "random.shuffle", "itertools.chain", "logging.info"])
def test_keeping_nothing(name: str) -> None:
    assert is_of_python(name)
    assert keeps_nothing(name)


def test_what_is_not_of_python() -> None:
    assert not is_of_python("torch.nn.Linear")
    assert not is_of_python("print")


@pytest.mark.parametrize("name", ["itertools.accumulate", "itertools.starmap", "functools.reduce", "builtins.filter"])
def test_calling(name: str) -> None:
    assert calls_what_it_is_given(name)
    assert computes(name)
    assert not hands_back(name)


@pytest.mark.parametrize("name", ["itertools.chain", "itertools.chain.from_iterable", "random.choice"])
def test_handing_back(name: str) -> None:
    assert hands_back(name)
    assert not computes(name)


@pytest.mark.parametrize("name", ["builtins.sum", "operator.mul", "builtins.pow"])
def test_computing(name: str) -> None:
    assert computes(name)
    assert not calls_what_it_is_given(name)
