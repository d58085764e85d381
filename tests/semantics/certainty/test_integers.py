"""What is an integer for certain, and the reasons where it is not."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import Answer, Fact
from torchlint.semantics.certainty.integers import Integers

HEADER = "import torch\nfrom torch import Tensor\nfrom config import depth\n\n\n"


def fact(text: str) -> Fact:
    """What is known of the marked expression."""
    semantics, [node] = marked(HEADER + text)
    return semantics.of(Integers).fact(node)


@pytest.mark.parametrize(
    "text",
    [
        "«3»",
        "«-3»",
        "«len(x)»",
        "n = 4\n«2 * n + 1»",
        "n = 4 if x else 5\n«n»",
        "def f(n: int):\n    «n // 2»",
        "def f(x: Tensor):\n    «x.size(0)»",
        "def f(x: Tensor):\n    «x.shape[-1]»",
        "for i in range(3):\n    «i»",
        "for i, x in enumerate(xs):\n    «i»",
        "class A:\n    def __init__(self):\n        self.n = 3\n\n    def f(self):\n        return «self.n»",
    ],
)
def test_certain(text: str) -> None:
    assert fact(text).is_certain


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("def f(n):\n    «n»", "`n` is an argument; it may be no integer"),
        ("def f(n: 'int | None'):\n    «n»", "`n` is an argument; it may be no integer"),
        ("«depth»", "`depth` is imported; it may be no integer"),
        ("n = 4\nif x:\n    n = read()\n«n»", "`read()` may be no integer"),
        ("def f(x):\n    «x.size(0)»", "`x` is an argument; it may be no tensor"),
        ("for i, x in xs:\n    «i»", "`i` may be no integer"),
        ("«4 / 2»", "`4 / 2` may be no integer"),
        (
            "class A:\n    def __init__(self, n):\n        self.n = n\n\n    def f(self):\n        return «self.n»",
            "`n` is an argument; it may be no integer",
        ),
        (
            "class A:\n    def __init__(self):\n        self.n = 3\n\n    def f(self):\n        return «self.n»\n\n\na.n = 0.5",
            "`self.n` may be no integer",
        ),
        ("class A(B):\n    def f(self):\n        return «self.n»", "`self.n` may be no integer"),
    ],
)
def test_unknown(text: str, doubt: str) -> None:
    found = fact(text)
    assert (found.answer, found.doubt) == (Answer.UNKNOWN, doubt)


def test_refuted() -> None:
    assert fact("n = 0.5\n«n»").answer is Answer.REFUTED
    assert fact("«'3'»").doubt == "`'3'` is no integer"
