"""Whether keys are looked at before a state is loaded: by the code around the marked call."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.modules.compared_keys import ComparedKeys


def holds(body: str) -> bool:
    """Whether the keys are compared before the marked call in a function."""
    semantics, (node,) = marked(f"import torch\ndef f(m, s, n, p):\n    {body}\n")
    assert isinstance(node, ast.Call)
    return semantics.of(ComparedKeys).holds(node)


@pytest.mark.parametrize(
    "body",
    [
        "check_keys(m, s); «m.load_state_dict(s, strict=False)»",
        "report_missing(s, m); «m.load_state_dict(s, strict=False)»",
        "w = torch.load(p); self.compareKeys(m, w); «m.load_state_dict(w, strict=False)»",
        "w = strip(s); check_keys(m, s); «m.load_state_dict(w, strict=False)»",
        "own = m.state_dict(); w = {k: s[k] for k in own}; «m.load_state_dict(w, strict=False)»",
        "w = {k: v for k, v in s.items() if k in m.state_dict()}; «m.load_state_dict(w, strict=False)»",
    ],
)
def test_keys_that_are_looked_at(body: str) -> None:
    assert holds(body)


@pytest.mark.parametrize(
    "body",
    [
        "«m.load_state_dict(s, strict=False)»",
        "check_keys(n, s); «m.load_state_dict(s, strict=False)»",
        "check_keys(m, p); «m.load_state_dict(s, strict=False)»",
        "prepare(m, s); «m.load_state_dict(s, strict=False)»",
        "checkpoint(m, s); «m.load_state_dict(s, strict=False)»",
        "own = n.state_dict(); «m.load_state_dict(s, strict=False)»",
        "«m.load_state_dict(s, strict=False)»; own = m.state_dict()",
        "«m.load_state_dict(n.state_dict(), strict=False)»",
    ],
)
def test_keys_that_nothing_looks_at(body: str) -> None:
    assert not holds(body)
