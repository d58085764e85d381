"""Kept views that change with their tensor: of each snippet, whether the marked node makes such a change."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.overtaken import OvertakenAliases

HEADER = "import torch\nw = torch.ones(3, requires_grad=True)\ndef f(x, i, unknown):\n    "


def alias(body: str) -> str | None:
    """The view that the marked node changes without being meant to."""
    semantics, (node,) = marked(HEADER + body.replace("\n", "\n    "))
    found = semantics.of(OvertakenAliases).changes.get(node)
    return ast.unparse(found.alias) if found is not None else None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("last = x[:, -1:].detach()\n«x» -= last\nreturn x + last", "x[:, -1:].detach()"),
        ("last = x.detach()[:, -1:]\n«x.sub_(last)»\nreturn last", "x.detach()[:, -1:]"),
        ("last = x[:, -1:, :i].detach()\n«x[:, :, :i]» = x[:, :, :i] - last\nreturn last", "x[:, -1:, :i].detach()"),
        ("x, _ = unknown\nmean = x.detach()\n«x» /= mean.norm()\nif i:\n    return mean", "x.detach()"),
    ],
)
def test_the_old_value_is_meant(body: str, expected: str) -> None:
    assert alias(body) == expected


def test_on_torch_the_kept_view_is_gone() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([[1.0, 2.0, 5.0]])
    last = x[:, -1:].detach()
    x[:, :] = x - last
    assert last.item() == 0.0
    with pytest.raises(RuntimeError, match="memory location"):
        x -= last  # read while it is written


@pytest.mark.parametrize(
    "body",
    [
        "last = x[:, -1:].detach()\n«x» -= last",  # nobody reads it any more
        "last = x[:, -1:].detach()\nprint(last)\n«x» -= last\nreturn last.shape",
        "last = x[:, -1:].detach()\n«x» -= 1\nreturn last",  # what is read may be the new value
        "last = x[:, -1:].detach().clone()\n«x» -= last\nreturn last",
        "last = x[x > 0].detach()\n«x» -= last\nreturn last",
        "last = x[i].detach()\n«x» -= last\nreturn last",  # i may be a mask
        "last = x[:, -1].detach()\n«x[:, :-1]» -= last\nreturn last",
        "last = x[:, -1:].detach()\n«x» = x - last\nreturn last",
        "last = x.detach()\nx = x * 2\n«x» -= last\nreturn last",
        "last = x.detach()\nlast = last * 2\n«x» -= last\nreturn last",
        "for x in unknown:\n    last = x.detach()\n    print(last)\n    «x» -= last",
        "last = w.detach()\n«w.sub_(last)»\nreturn last",
        "with torch.no_grad():\n    last = x.detach()\n    «x.sub_(last)»\n    return last",
        "last = x.detach(0)\n«x» -= last\nreturn last",
    ],
)
def test_it_is_not_or_that_is_not_known(body: str) -> None:
    assert alias(body) is None
