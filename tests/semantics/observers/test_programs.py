"""Files that train as soon as they are imported."""

from __future__ import annotations

import pytest
from marked import marked

from torchlint.semantics.observers.programs import Programs


def is_program(text: str) -> bool:
    semantics, _ = marked(text)
    return semantics.of(Programs).is_program.is_certain


@pytest.mark.parametrize("text", ["loss.backward()", "for x in data:\n    if x:\n        model(x).backward()"])
def test_is_one(text: str) -> None:
    assert is_program(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "def f():\n    loss.backward()",
        "class A:\n    def f(self):\n        loss.backward()",
        "if __name__ == '__main__':\n    loss.backward()",
        "f = lambda loss: loss.backward()",
    ],
)
def test_may_be_imported_from(text: str) -> None:
    assert not is_program(text)
