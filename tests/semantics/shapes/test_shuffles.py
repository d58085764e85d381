"""Which reshapes name a tensor's own axes in another order."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.shapes.shuffles import Shuffle, Shuffles


def shuffle(snippet: str) -> Shuffle | None:
    """What is found at the marked call of a snippet."""
    semantics, (call,) = marked(snippet)
    assert isinstance(call, ast.Call)
    return semantics.of(Shuffles).found.get(call)


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("def f(x):\n    «x.view(x.size(1), x.size(0))»", Shuffle((0, 1), (1, 0), suffices=True)),
        ("def f(x):\n    n, c, h, w = x.shape\n    «x.view(n, h, w, c)»", Shuffle((1, 2), (0, 2, 3, 1), suffices=True)),
        ("def f(x):\n    n, c, h, w = x.shape\n    «x.view([n, w, h, c])»", Shuffle((2, 3), (0, 3, 2, 1), suffices=True)),
        ("def f(x):\n    n, c, h, w = x.shape\n    «x.view(n, h * w, c)»", Shuffle((1, 2), (0, 2, 3, 1), suffices=False)),
        ("def f(x):\n    «x.view(x.size(1), x.size(0), -1)»", Shuffle((0, 1), (), suffices=False)),
        ("def f(x, k):\n    n, t = x.size(0), x.size(1)\n    «x.view(t, n, k, -1)»", Shuffle((0, 1), None, suffices=False)),
        (
            "import torch\ndef f(x: torch.Tensor):\n    «x.reshape(x.shape[1], x.shape[0])»",
            Shuffle((0, 1), (1, 0), suffices=True),
        ),
    ],
)
def test_shuffles(snippet: str, expected: Shuffle) -> None:
    assert shuffle(snippet) == expected


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x):\n    n, c, h, w = x.shape\n    «x.view(n, c, h * w)»",
        "def f(x):\n    «x.view(x.size(0), x.size(1), -1)»",
        "def f(x):\n    n, c = x.shape\n    «x.permute(1, 0).view(c, n)»",
        "import numpy as np\nx = np.zeros((2, 3))\n«x.reshape(x.shape[1], x.shape[0])»",
    ],
)
def test_the_axes_keep_their_order(snippet: str) -> None:
    assert shuffle(snippet) is None


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x):\n    «x.view(x.size(1), x.size(0))»[1:]",
        "def f(x):\n    n, t = x.shape\n    «x.view(t, n)».view(n, t)",
        "def f(x):\n    n, t = x.shape\n    y = x.view(t, n)\n    «y.view(n, t)»",
        "def f(x):\n    n, t = x.shape\n    y = «x.view(t, n)»\n    return y.view_as(x)",
    ],
)
def test_what_is_dealt_out_anew_may_be_meant(snippet: str) -> None:
    assert shuffle(snippet) is None


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x):\n    «x.reshape(x.shape[1], x.shape[0])»",
        "def f(x, n, t):\n    «x.view(t, n)»",
        "def f(x, shape):\n    «x.view(*shape)»",
        "def f(x, y):\n    «x.view(y.size(1), y.size(0))»",
    ],
)
def test_what_is_not_known_is_not_found(snippet: str) -> None:
    assert shuffle(snippet) is None
