"""Whether what is done to a kept value reaches what is detached of it, or its number."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.graphs.kept_changes import KeptChanges


@pytest.mark.parametrize(
    ("text", "left_alone", "unchanged"),
    [
        ("loss = f(x)\nloss.backward()\nkept.append(«loss»)\nprint(loss * 2, f'{loss}')", True, True),
        ("loss = f(x)\nkept.append(«loss»)\nloss /= 4", True, False),
        ("loss = f(x)\nkept.append(«loss»)\nloss.clamp_(max=1)", True, False),
        ("loss = f(x)\nkept.append(«loss»)\nscaled(loss)", True, False),
        ("loss = f(x)\nkept.append(«loss»)\nother = loss", True, False),
        ("loss = f(x)\nkept.append(«loss»)\nloss.view(1)", True, False),
        ("loss = f(x)\nkept.append(«loss»)\nloss.unsqueeze_(0)", False, False),
        ("loss = f(x)\nkept.append(«loss»)\nloss.data = y", False, False),
    ],
)
def test_what_is_kept_changes(text: str, left_alone: bool, unchanged: bool) -> None:
    semantics, [node] = marked(text)
    kept = semantics.of(KeptChanges)
    assert (kept.left_alone(node).is_certain, kept.unchanged(node).is_certain) == (left_alone, unchanged)
