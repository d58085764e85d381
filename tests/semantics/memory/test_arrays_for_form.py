"""Which arrays are only asked for their form."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.memory.arrays_for_form import ArraysForForm


def are_for_form(snippet: str) -> bool:
    semantics, [node] = marked("import numpy as np\n" + snippet)
    return semantics.of(ArraysForForm).are_made_of(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "«x.data».cpu().numpy().shape",
        "np.zeros_like(«x.data».cpu().numpy().reshape([-1]))",
        "a = «x.data».cpu().numpy()\nmask = np.ones_like(a)\nprint(a.shape, len(a))",
        "n = len(«x.data».numpy())",
    ],
)
def test_form(snippet: str) -> None:
    assert are_for_form(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "a = «x.data».cpu().numpy()\nmask = np.ones_like(a)\nmask *= a",
        "a = «x.data».cpu().numpy()",
        "np.full_like(b, «x.data».cpu().numpy())",
        "np.mean(«x.data».cpu().numpy())",
        "kept = «x.data»",
        "np.zeros_like(«x.data»)",
        "«x.data».cpu().numpy()[0].shape",
    ],
)
def test_values(snippet: str) -> None:
    assert not are_for_form(snippet)
