"""Which values are only computed to be written into tensors."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.memory.written_back import WrittenBack


def is_all(snippet: str) -> bool:
    semantics, [node] = marked("import torch\n" + snippet)
    return semantics.of(WrittenBack).is_all(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "new = tau * «s.data» + (1 - tau) * t.data\nt.data.copy_(new)",
        "new = «s.data»\nt.data.copy_(new)",
        "new = tau * «s.data»\nnew = new + (1 - tau) * t.data\nt.data = new",
        "new = tau * «s.data»\nwith torch.no_grad():\n    t.copy_(new)",
        "step = lr * «s.data»\nt.data.add_(-step)",
        "w = «m.weight.data»\nmid = w.mean(dim=1, keepdim=True)\nm.weight.data -= mid",
        "w = «m.weight.data».view(3, -1)\nm.weight.data /= w.norm(dim=1)",
    ],
)
def test_what_is_written(snippet: str) -> None:
    assert is_all(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "new = «s.data»\nt.data.copy_(new)\nkept.append(new)",
        "new = «net(x).data»",
        "new = «s.data»\nt.copy_(new)",
        "new = «s.data»\nt.data.copy_(torch.sigmoid(new))",
        "t.data.copy_(«s.data»)",  # a question of the statement itself
        "new = «s.data»\nt = new",
        "for p in ps:\n    new = «p.data».float()\n    new.add_(step)\n    p.data.copy_(new)",
        "for p in ps:\n    new = «p.data».float()\n    p.data.copy_(new)",  # of an optimizer, which changes it
        "w = «m.weight.data»\nmid = w.mean(1)\nm.weight.data -= mid\nkept.append(mid)",
        "w = «m.weight.data»\nmid = w.mean(1)\nm.weight -= mid",
        "m.weight.data -= «m.weight.data».mean(1)",  # a question of the statement itself
        "w = «m.weight.data»\nmid = w.topk(1)\nm.weight.data -= mid",
    ],
)
def test_what_is_not(snippet: str) -> None:
    assert not is_all(snippet)
