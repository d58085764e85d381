"""Which errors are awaited by the code around them."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.code.expected_errors import is_awaited


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("try:\n    a()\n    «b()»\nexcept RuntimeError:\n    pass", True),
        ("try:\n    if x:\n        «b()»\nexcept RuntimeError:\n    pass", True),
        ("with pytest.raises(RuntimeError):\n    a()\n    «b()»", True),
        ("with contextlib.suppress(RuntimeError):\n    «b()»", True),
        ("try:\n    a()\nexcept RuntimeError:\n    «b()»", False),
        ("try:\n    a()\nexcept RuntimeError:\n    pass\nelse:\n    «b()»", False),
        ("try:\n    «b()»\nfinally:\n    pass", False),
        ("try:\n    def f():\n        «b()»\nexcept RuntimeError:\n    pass", False),
        ("with open(x):\n    «b()»", False),
    ],
)
def test_is_awaited(text: str, expected: bool) -> None:
    semantics, [node] = marked(text)
    assert is_awaited(semantics.tree, node) is expected
