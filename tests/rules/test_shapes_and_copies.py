"""The rules about shapes and copies together: what they leave to each other, the imports that their fixes add, old targets."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.options import Options
from torchlint.rules.selection import select_rules
from torchlint.target import TorchVersion
from torchlint.text.source import Source


def codes(text: str, *selected: str, options: Options | None = None) -> list[str]:
    rules = select_rules(select=list(selected))
    found = lint(Source(text), rules, options=options) if options else lint(Source(text), rules)
    return [diagnostic.code for diagnostic in found]


def repaired(text: str, *selected: str) -> str:
    return fix(Source(text), select_rules(select=list(selected)), Applicability.UNSAFE).text


def test_a_view_that_swaps_axes_back_is_reported_once() -> None:
    text = "def f(x):\n    b, t, d = x.shape\n    y = x.transpose(0, 1)\n    return y.view(b * t, d), y.view(b, t, d)\n"
    assert codes(text, "TPL204", "TPL206") == ["TPL204", "TPL206"]
    assert repaired(text, "TPL204", "TPL206").endswith("    return y.reshape(b * t, d), y.permute(1, 0, 2)\n")


def test_a_view_behind_a_new_permutation_becomes_a_reshape() -> None:
    text = "def f(x):\n    x = x.view(x.size(1), x.size(0), x.size(2))\n    return x.relu().view(-1)\n"
    fixed = "def f(x):\n    x = x.permute(1, 0, 2)\n    return x.relu().reshape(-1)\n"
    assert repaired(text, "TPL204", "TPL206") == fixed


def test_stacking_arrays_adds_the_imports_that_are_missing() -> None:
    text = "from torch import tensor\n\n\ndef f(xs):\n    return tensor([x.detach().numpy() for x in xs])\n"
    fixed = (
        "import numpy as np\nimport torch\nfrom torch import tensor\n\n\n"
        "def f(xs):\n    return torch.from_numpy(np.stack([x.detach().numpy() for x in xs]))\n"
    )
    assert sorted(repaired(text, "TPL208").splitlines()) == sorted(fixed.splitlines())


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("TPL204", "def f(x):\n    return x.transpose(1, 2).view(-1)\n"),
        ("TPL206", "def f(x):\n    return x.view(x.size(1), x.size(0))\n"),
        ("TPL207", "import torch\n\nx = torch.tensor(torch.zeros(3))\n"),
    ],
)
def test_silent_where_the_target_lacks_what_they_recommend(code: str, text: str) -> None:
    assert codes(text, code) == [code]
    assert codes(text, code, options=Options(target=TorchVersion(0, 3))) == []


@pytest.mark.parametrize(
    ("hiding", "copied", "is_strict"),
    [
        ('warnings.filterwarnings("ignore")', "x", True),
        ('warnings.simplefilter("ignore", UserWarning)', "x", True),
        ('warnings.filterwarnings("ignore", category=FutureWarning)', "x", False),
        ("", "x", False),
        ('warnings.filterwarnings("ignore")', "torch.zeros(3)", False),
        ('warnings.filterwarnings("ignore")', "net(x)", False),
        ('warnings.filterwarnings("ignore")', "net.weight", False),
    ],
)
def test_a_copy_without_a_graph_of_which_no_warning_is_seen(hiding: str, copied: str, is_strict: bool) -> None:
    text = (
        f"import warnings\n\nimport torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n\n{hiding}\n"
        f"net = nn.Linear(3, 1)\nfor x, y in DataLoader(items(), 8):\n    z = torch.tensor({copied}, dtype=torch.float32)\n"
    )
    assert [each.is_strict for each in lint(Source(text), select_rules(select=["TPL207"]))] == [is_strict]
