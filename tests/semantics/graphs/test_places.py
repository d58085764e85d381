"""Which values say where something is: integers, which have no graph."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.graphs.likely.places import Places

_HEADER = "import torch\nimport torch.distributed as dist\n"


def are_places(text: str) -> bool:
    semantics, [node] = marked(_HEADER + text)
    return semantics.of(Places).are(node)


@pytest.mark.parametrize(
    "text",
    [
        "kept.scatter_(1, «seq[:, t - 1]».data.unsqueeze(1), float('-inf'))",
        "torch.gather(p, 1, «word».data)",
        "p.gather(1, index=«word».data.view(-1, 1))",
        "at = «word».data\np.index_select(0, at)",
        "it = «seq[:, t]».data.clone()\nit.index_copy_(0, at, torch.multinomial(p, 1).view(-1).index_select(0, at))",
    ],
)
def test_they_say_where(text: str) -> None:
    assert are_places(text)


@pytest.mark.parametrize(
    "text",
    [
        "kept.scatter_(1, at, «p».data)",
        "torch.gather(«p».data, 1, at)",
        "«p».data.gather(1, at)",
        "dist.gather(mean, «p».data)",
        "class A:\n    def f(self, p):\n        return self.gather(1, «p».data)",
        "from tools import gather\ngather(1, «p».data)",
        "it = «p».data.clone()\nit.index_copy_(0, at, other)",
        "it = «p».data\nif flag:\n    it = at\nq.gather(1, it)",
    ],
)
def test_they_may_be_values(text: str) -> None:
    assert not are_places(text)
