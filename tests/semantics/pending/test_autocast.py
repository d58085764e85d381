"""What autocast keeps casts of, told by the file and as torch does it."""

from __future__ import annotations

import re

import pytest

from marked import marked
from torchlint.semantics.pending.autocast import Autocast

torch = pytest.importorskip("torch")

NAME = re.compile(r"\bw\b")
KEPT = ["w @ r", "torch.mm(w, r)", "torch.addmm(r, w, r)", "w.matmul(r)", "torch.nn.functional.linear(r, w)"]
LEFT = [
    "w * r",
    "w - r",
    "w.norm()",
    "torch.sqrt(w)",
    "w.clamp(0, 1)",
    "r.add_(w)",
    "torch.where(r > 0, w, r)",
    "w.mean(dim=0)",
]


def keeps_a_cast(text: str) -> bool:
    """Whether torch takes an old cast of ``w`` after it was used in an expression and changed."""
    w, r = torch.nn.Parameter(torch.ones(2, 2)), torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.no_grad():
            eval(text, {"w": w, "r": r, "torch": torch})
            w.fill_(100.0)
        return bool(torch.nn.functional.linear(torch.ones(2, 2), w)[0, 0].item() < 50)


@pytest.mark.parametrize("text", KEPT)
def test_what_is_cast_is_kept(text: str) -> None:
    semantics, [node] = marked("import torch\n" + NAME.sub("«w»", text, count=1))
    assert semantics.of(Autocast).is_cast(node) and not semantics.of(Autocast).leaves(node)
    assert keeps_a_cast(text) and not keeps_a_cast(NAME.sub("w.detach()", text))


@pytest.mark.parametrize("text", LEFT)
def test_what_is_left_as_it_is(text: str) -> None:
    semantics, [node] = marked("import torch\n" + NAME.sub("«w»", text))
    assert semantics.of(Autocast).leaves(node)
    assert not keeps_a_cast(text)
