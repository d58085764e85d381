"""Whether a module is initialised by its own constructor alone, and the reason where it may not be."""

from __future__ import annotations

import pytest

from torchlint.fact import Fact
from torchlint.semantics import Semantics
from torchlint.semantics.modules.constructors.initialisations import Initialisations
from torchlint.text.source import Source


def fact(init: str, *, before: str = "", base: str = "nn.Module", after: str = "", end: str = "print(Net(2))") -> Fact:
    """What is known of the class ``Net`` of a program, whose constructor is wrong."""
    text = (
        f"import torch\nfrom torch import nn\n\n{before}\nclass Net({base}):\n"
        f"    def __init__(self, width):\n        {init}\n\n"
        f"    def forward(self, x):\n        return x\n\n{after}\n{end}\n"
    )
    [found] = Semantics(Source(text).tree).of(Initialisations).wrong.values()
    return found.alone


BUILT = "class Base(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {}\n"
BRANCH = "if width:\n            self.fc = nn.Linear(2, 2)\n        self.width = width\n        super().__init__()"


@pytest.mark.parametrize(
    ("init", "before", "base"),
    [
        ("self.fc = nn.Linear(2, 2)", "", "nn.Module"),
        ("self.width = width", "", "nn.Module"),
        ("super().__init__", "", "nn.Module"),
        ("self.fc = nn.Linear(2, 2)\n        super().__init__()", "", "nn.Module"),
        (BRANCH, "", "nn.Module"),
        ("self.fc = nn.Linear(2, 2)\n        super().__init__()", BUILT.format("self.build()"), "Base"),
        ("self.width = width", BUILT.format("self.count = 0"), "Base"),
    ],
)
def test_certain(init: str, before: str, base: str) -> None:
    assert fact(init, before=before, base=base).is_certain


@pytest.mark.parametrize(
    ("before", "after", "end", "doubt"),
    [
        ("", "", "", "a subclass of `Net` in another file"),
        ("@register", "", "print(Net(2))", "`register` may initialise `Net`"),
        ("", "", "print(register(Net))", "`Net` is handed on"),
        ("", "", "net = Net.__new__(Net)\nprint(net)", "`Net` is handed on"),
        (
            "",
            "class Big(Net):\n    def __init__(self):\n        nn.Module.__init__(self)\n        super().__init__(2)\n",
            "print(Big())",
            "`Big` may have initialised it before",
        ),
        (
            "",
            "",
            "try:\n    Net(2)\nexcept AttributeError:\n    print('none')\nprint(Net(2))",
            "the code awaits errors, and may decide by this one",
        ),
    ],
)
def test_what_else_may_initialise_it(before: str, after: str, end: str, doubt: str) -> None:
    found = fact("self.fc = nn.Linear(2, 2)", before=before, after=after, end=end)
    assert not found.is_certain
    assert doubt in found.doubt


@pytest.mark.parametrize(
    ("init", "before", "base", "doubt"),
    [
        (BRANCH, BUILT.format("self.build()"), "Base", "`Base.__init__` calls `self.build`"),
        (BRANCH, BUILT.format("self.width = 1"), "Base", "`width` is set by `Base.__init__`, too"),
        ("self.width = width", BUILT.format("self.number = next(NUMBERS)"), "Base", "`Base.__init__` calls `next`"),
        ("self.training = False", "", "nn.Module", "`training` is set by `nn.Module.__init__`, too"),
    ],
)
def test_what_the_base_class_does_where_objects_were_made(init: str, before: str, base: str, doubt: str) -> None:
    found = fact(init, before=before, base=base)
    assert not found.is_certain
    assert doubt in found.doubt
