"""Whether today's spelling means the same, and the reasons where somebody may notice."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.certainty.same_meaning import SameMeaning

HEADER = """\
import torch
import torch.nn.functional as F
from functools import partial
from torch import Tensor, nn
from torch.nn.functional import upsample
from torch.utils.data import DataLoader


"""
SIGMOID = ("torch.nn.functional.sigmoid", "torch.sigmoid")
UPSAMPLE = ("torch.nn.functional.upsample", "torch.nn.functional.interpolate")
INIT = ("torch.nn.init.normal", "torch.nn.init.normal_")

Question: TypeAlias = Callable[[SameMeaning, ast.Call], Fact]


def renamed(text: str, names: tuple[str, str]) -> Fact:
    """What is known of the marked reference to an old name."""
    semantics, [node] = marked(HEADER + text)
    return semantics.of(SameMeaning).renamed(node, *names)


def asked(question: Question, text: str) -> Fact:
    """What is known of the marked call."""
    semantics, [node] = marked(HEADER + text)
    assert isinstance(node, ast.Call)
    return question(semantics.of(SameMeaning), node)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("«nn.init.normal»(x)", INIT),
        ("def f(x: Tensor):\n    return «F.sigmoid»(x)", SIGMOID),
        ("y = «upsample»(x)\nprint(y)", UPSAMPLE),
        ("def f(x):\n    return «F.upsample»(x)", UPSAMPLE),
    ],
)
def test_a_name_that_means_the_same(text: str, names: tuple[str, str]) -> None:
    assert renamed(text, names).is_certain


@pytest.mark.parametrize(
    ("text", "names", "doubt"),
    [
        ("def f(x):\n    return «F.sigmoid»(x)", SIGMOID, "`x` is an argument; it may be no tensor"),
        ("gate = «F.sigmoid»", SIGMOID, "it may be given something else than a tensor"),
        ("F.upsample = own\n«F.upsample»(x)", UPSAMPLE, "the file assigns another `upsample`"),
        ("setattr(F, 'upsample', own)\n«F.upsample»(x)", UPSAMPLE, "the file assigns another `upsample`"),
        ("def f(x):\n    return «upsample»(x)", UPSAMPLE, "another file may import `upsample` from this one"),
        (
            "def f(x, interpolate):\n    return «upsample»(x)\n\n\nprint(f(x, 1))",
            UPSAMPLE,
            "`interpolate` is the name of something else in places",
        ),
        (
            "import warnings\nwarnings.simplefilter('error')\n«nn.init.normal»(x)",
            INIT,
            "`warnings.simplefilter` may take notice of the warning that goes",
        ),
    ],
)
def test_a_name_that_may_mean_something_else(text: str, names: tuple[str, str], doubt: str) -> None:
    assert renamed(text, names).doubt == doubt


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (SameMeaning.flagged, "«nn.MSELoss(size_average=False)»"),
        (SameMeaning.flagged, "«F.mse_loss(a, b, size_average=False)»"),
        (SameMeaning.factors_moved, "def f(x: Tensor):\n    «x.add(2, y)»"),
        (SameMeaning.factors_moved, "def f(x: Tensor):\n    «x.addcdiv_(-rate, y, z.sqrt().add_(eps))»"),
        (SameMeaning.of_tensor, "def f(p: Tensor):\n    «p.multinomial()»"),
        (SameMeaning.loaders_next, "it = iter(DataLoader(data))\n«it.next()»"),
    ],
)
def test_a_call_that_means_the_same(question: Question, text: str) -> None:
    assert asked(question, text).is_certain


@pytest.mark.parametrize(
    ("question", "text", "doubt"),
    [
        (
            SameMeaning.flagged,
            "«partial(F.mse_loss, size_average=False)»",
            "another argument may be given later, or another class be meant",
        ),
        (SameMeaning.factors_moved, "def f(x):\n    «x.add(2, y)»", "`x` is an argument; it may be no tensor"),
        (
            SameMeaning.factors_moved,
            "def f(x: Tensor):\n    «x.add(next(rates), y)»",
            "the arguments are computed in another order",
        ),
        (
            SameMeaning.factors_moved,
            "def f(x: Tensor):\n    «x.add(2, torch.rand(3))»",
            "the arguments are computed in another order",
        ),
        (SameMeaning.of_tensor, "def f(p):\n    «p.multinomial()»", "`p` is an argument; it may be no tensor"),
        (
            SameMeaning.of_tensor,
            "def f(p: Tensor):\n    try:\n        «p.multinomial()»\n    except TypeError:\n        pass",
            "the code awaits the error, and may decide by it",
        ),
        (
            SameMeaning.loaders_next,
            "def f(loader):\n    it = iter(loader)\n    «it.next()»",
            "`loader` is an argument; it may be no data loader",
        ),
    ],
)
def test_a_call_that_may_mean_something_else(question: Question, text: str, doubt: str) -> None:
    assert asked(question, text).doubt == doubt
