"""What the other files of a project say of what states are loaded into."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint
from torchlint.project.topics.own_loading import OWN_LOADING

OWN = "    def load_state_dict(self, state):\n        return self\n"
GIVEN = "import torch\ndef f(agent, s):\n    agent = agent.load_state_dict(s)\n    agent.eval()\n"
DECLARED = "from torch import nn\ndef f(net: nn.Module, s):\n    return net.load_state_dict(s).eval()\n"
MADE = "from torch import nn\nnet = nn.Linear(2, 2)\nnet = net.load_state_dict(s)\nnet.eval()\n"
OPT = "import torch\nfrom other import Opt\no = Opt([p], lr=1.0)\no = o.load_state_dict(s)\no.step()\n"
OF_SGD = "import torch\nclass Opt(torch.optim.SGD):\n"
EMA = "from other import EMA\nema = EMA(net)\nema = ema.load_state_dict(s)\nema.eval()\n"
LOADER = "from torch import nn\nfrom other import Loader\nLoader().load_state_dict(nn.Linear(2, 2), s).eval()\n"
HEIR = (
    "from torch import nn\nclass A:\n    def __init__(self):\n        self.net = nn.Linear(2, 2)\n"
    "    def load(self):\n        return self.net.load_state_dict(s)\n    def run(self):\n        self.load().eval()\n"
)


@pytest.mark.parametrize(
    ("main", "other", "number"),
    [
        (GIVEN, "class Agent:\n    pass\n", 1),
        (GIVEN, "class Agent:\n" + OWN, 0),
        (GIVEN, "class Agent:\n    def load_state_dict(self, state):\n        self.net.load_state_dict(state)\n", 1),
        (
            GIVEN,
            "class W:\n    def __getattr__(self, k):\n        def call(*a):\n            return self\n        return call\n",
            0,
        ),
        (DECLARED, "from torch import nn\nclass Net(nn.Module):\n    pass\n", 1),
        (DECLARED, "from torch import nn\nclass Net(nn.Module):\n" + OWN, 0),
        (MADE, "from torch import nn\nclass Net(nn.Module):\n" + OWN, 1),
        (MADE, "from torch import nn\nnn.Module.load_state_dict = load\n", 0),
        (MADE, "setattr(cls, 'load_state_dict', load)\n", 0),
        (MADE, "hasattr(cls, 'load_state_dict')\n", 1),
        (OPT, OF_SGD + OWN, 0),
        (OPT, OF_SGD + "    pass\n", 1),
        (EMA, "class EMA:\n" + OWN, 0),
        (EMA, "class EMA:\n    pass\n", 0),
        (LOADER, "class Loader:\n" + OWN, 0),
        (HEIR, "", 1),
        (HEIR, "from main import A\nclass B(A):\n    def load(self):\n        return self.net\n", 0),
    ],
)
def test_by_default(tmp_path: Path, main: str, other: str, number: int) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '0'\n")
    (tmp_path / "main.py").write_text(main)
    (tmp_path / "other.py").write_text(other)
    found = lint(main, filename=str(tmp_path / "main.py"), project_root=str(tmp_path))
    assert sum(each.code == "TPL330" for each in found) == number


@pytest.mark.parametrize(
    ("topic", "text", "speaks"),
    [
        ("own loading", b"class A:\n    def load_state_dict(\n        self,\n        s,\n    ):\n        return self\n", True),
        (
            "own loading",
            b"class A:\n    def load_state_dict(self, s):\n        return None\n    def f(self):\n        return 1\n",
            False,
        ),
        ("own loading", b"class A:\n    def load_state_dict(self, s):\n        return super().load_state_dict(s)\n", False),
        ("own loading", b"class A:\n    @fluent\n    def load_state_dict(self, s):\n        pass\n", True),
        ("own loading", b"class A:\n    load_state_dict = fluent\n", True),
        ("patched loading", b"net.load_state_dict(sd)\nx = net.load_state_dict == y\n", False),
        ("patched loading", b"net.load_state_dict = load\n", True),
    ],
)
def test_the_topics(topic: str, text: bytes, speaks: bool) -> None:
    assert OWN_LOADING[topic](text) is speaks
