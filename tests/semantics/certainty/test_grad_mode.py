"""Where autograd is off for certain, and the doubts where it may be on."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import Answer
from torchlint.semantics.certainty.grad_mode import GradMode

MAY_BE_ON = "autograd may be on here"
LAMBDA = "the lambda may be called where autograd is on"


def answer(text: str) -> tuple[Answer, str]:
    """Whether autograd is off where the marked expression stands, and the doubt."""
    semantics, [node] = marked("import torch\n" + text)
    fact = semantics.of(GradMode).off(node)
    return fact.answer, fact.doubt


@pytest.mark.parametrize(
    "text",
    [
        "with torch.no_grad():\n    «x»",
        "with torch.inference_mode():\n    for i in y:\n        «x»",
        "with torch.inference_mode(True):\n    «x»",
        "with torch.set_grad_enabled(False):\n    «x»",
        "with open('f') as f, torch.no_grad():\n    «x»",
        "with torch.no_grad(), torch.autocast('cuda'):\n    «x»",
        "with torch.no_grad():\n    with open('f') as f:\n        «x»",
        "with torch.no_grad():\n    y = [«x» for i in z]",
        "with torch.no_grad():\n    y = sum(«x» for i in z)",
        "with torch.enable_grad():\n    with torch.no_grad():\n        «x»",
        "@torch.no_grad()\ndef f():\n    «x»",
        "@torch.no_grad\ndef f():\n    «x»",
        "@other\n@torch.inference_mode()\ndef f():\n    «x»",
        "class A:\n    @staticmethod\n    @torch.no_grad()\n    def f():\n        «x»",
        "@torch.no_grad()\ndef f():\n    for i in y:\n        yield «x»",
    ],
)
def test_certain(text: str) -> None:
    assert answer(text) == (Answer.CERTAIN, "")


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("«x»", MAY_BE_ON),
        ("def f():\n    «x»", MAY_BE_ON),
        ("def f():\n    «x»\n\n\nwith torch.no_grad():\n    f()", MAY_BE_ON),
        ("with torch.no_grad():\n    def f():\n        «x»", MAY_BE_ON),
        ("with torch.no_grad(), other(«x»):\n    pass", MAY_BE_ON),
        ("with torch.no_grad():\n    y = lambda: «x»", LAMBDA),
        ("with torch.no_grad():\n    y = («x» for i in z)", "the generator may be run where autograd is on"),
        ("with torch.no_grad():\n    keep(«x» for i in z)", "the generator may be run where autograd is on"),
        ("with torch.inference_mode(not training):\n    «x»", "a flag tells here whether autograd is off"),
        ("with torch.set_grad_enabled(flag):\n    «x»", "a flag tells here whether autograd is off"),
        ("with torch.no_grad(), tuned():\n    «x»", "`tuned()` may turn autograd on"),
        ("with torch.no_grad():\n    with model.training():\n        «x»", "`model.training()` may turn autograd on"),
        (
            "with torch.no_grad():\n    torch.set_grad_enabled(True)\n    «x»",
            "`set_grad_enabled` is called in this file and holds from there on",
        ),
        ("torch.set_grad_enabled(False)\n«x»", MAY_BE_ON),
        ("def f():\n    with torch.no_grad():\n        yield «x»", "who runs the generator may turn autograd on meanwhile"),
        ("@torch.no_grad()\nasync def f():\n    «x»", "the decorator of a coroutine covers only that it is made"),
        ("async def f():\n    with torch.no_grad():\n        «x»", "other coroutines may switch autograd while this one waits"),
        ("@torch.no_grad()\n@other\ndef f():\n    «x»", MAY_BE_ON),
        ("@torch.inference_mode(mode)\ndef f():\n    «x»", "a flag tells here whether autograd is off"),
    ],
)
def test_unknown(text: str, doubt: str) -> None:
    assert answer(text) == (Answer.UNKNOWN, doubt)


@pytest.mark.parametrize(
    "text",
    [
        "with torch.enable_grad():\n    «x»",
        "with torch.no_grad():\n    with torch.enable_grad():\n        «x»",
        "@torch.no_grad()\ndef f():\n    with torch.enable_grad():\n        «x»",
        "with torch.inference_mode(False):\n    «x»",
        "with torch.set_grad_enabled(True):\n    «x»",
        "@torch.enable_grad()\ndef f():\n    «x»",
    ],
)
def test_refuted(text: str) -> None:
    assert answer(text) == (Answer.REFUTED, "autograd is on here")
