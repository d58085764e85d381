"""Whether no backward that has saved a tensor can still follow where it is changed."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import CERTAIN, Fact
from torchlint.semantics.pending.unsaved import Unsaved

HEADER = "import copy\nimport torch\nfrom torch import nn\n"
TRAINING = """\
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = net(torch.randn(4, 2)).pow(2).mean()
    {before}
    loss.backward()
    optimizer.step()
    {behind}
    print(loss.item())
"""
CONSTRUCTOR = """\
class Net(nn.Module):
    def __init__(self, size, {parameter}):
        super().__init__()
        self.fc = nn.Linear(size, size)
        {first}
        for m in self.modules():
            if isinstance(m, nn.Linear):
                «m.weight».data.zero_()

    def forward(self, x):
        return self.fc(self.part(x))
"""
HELPERS = """
    def _square(self):
        return self.fc.weight ** 2

    def _keep(self, m):
        self.kept = m.weight * 2


class Tied(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.prior = layer.weight.mean(0)
"""
SQUARED = """\
        self.square = self.fc.weight.pow(2).sum()

    def forward"""
CHANGE = "«net[0].weight».data.clamp_(-1, 1)"


def fact(text: str) -> Fact:
    semantics, [node] = marked(HEADER + text)
    return semantics.of(Unsaved).fact(node, node)


@pytest.mark.parametrize(
    "text",
    [
        TRAINING.format(before="pass", behind=CHANGE),
        TRAINING.format(before="pass", behind="for p in net.parameters():\n        «p».data.clamp_(-1, 1)"),
        "net = nn.Sequential(nn.Linear(2, 2))\n«net[0].weight».data.zero_()\nloss = net(torch.ones(2)).sum()\nloss.backward()",
        "def f(m):\n    «m.weight».data.zero_()\n\n\nnet = nn.Linear(2, 2)\nnet.apply(f)\nnet(torch.ones(2)).sum().backward()",
        "def f(t, s):\n    for q, p in zip(t.parameters(), s.parameters()):\n        «q».data.copy_(p)\n\n\n"
        "net = nn.Linear(2, 2)\nold = copy.deepcopy(net)\n"
        "for _ in range(2):\n    net(torch.ones(2)).sum().backward()\n    f(old, net)",
        "def f(n):\n    x = torch.zeros(n)\n    for i in range(n):\n        «x».data[i] = i\n    return x",
        "def f(n):\n    layer = nn.Linear(n, n)\n    «layer.weight».data.zero_()\n    return layer",
        "def f(n):\n    w = nn.Linear(n, n).weight\n    if w.dim() > 1:\n        «w».data.zero_()\n    return w",
        CONSTRUCTOR.format(parameter="depth=2", first="self.part = make(depth)"),
        CONSTRUCTOR.format(parameter="part", first="self.part = part(size)"),
        CONSTRUCTOR.replace("self.modules()", "self.fc.modules()").format(parameter="part", first="self.size = part"),
        "class Net(nn.Module):\n    def __init__(self):\n        self.fc = nn.Linear(2, 2)\n        self.apply(self._init)\n\n"
        "    def _init(self, m):\n        «m.weight».data.zero_()",
        CONSTRUCTOR.format(parameter="width", first="self.width = width * 2\n        self.part = make(self.width)"),
        CONSTRUCTOR.format(parameter="part", first="self.parts = [self.fc]\n        print(self.fc.weight.shape)"),
        CONSTRUCTOR.format(parameter="part", first="norm = self.fc.weight.data.norm()\n        self.fc.weight.data.div_(norm)"),
        CONSTRUCTOR.format(parameter="part", first="nn.init.zeros_(self.fc.bias)").replace("    def forward", SQUARED),
    ],
)
def test_certain(text: str) -> None:
    assert fact(text) == CERTAIN


@pytest.mark.parametrize(
    "first",
    [
        "self.square = self.fc.weight.pow(2)",
        "self.gram = self.fc.weight @ self.fc.weight.t()",
        "pair = (self.fc, size)\n        self.square = pair[0].weight ** 2",
        "self.held = dict(layer=self.fc)\n        self.square = self.held['layer'].weight * 2",
        "self.later = lambda: self.fc.weight ** 2",
        "self.squares = [p ** 2 for p in self.parameters()]",
        "square = 1\n        square += self.fc.weight\n        self.square = square",
        "self.square = self._square()",
        "self.apply(self._keep)",
        "self.tied = Tied(self.fc)",
        "self.out = self.fc(torch.ones(size))",
        "nn.utils.weight_norm(self.fc)",
        "keep(self.fc)",
        "self.seen = self.fc.weight.detach()\n        self.product = part * self.seen",
    ],
)
def test_what_a_constructor_computes_is_in_the_way(first: str) -> None:
    assert not fact(CONSTRUCTOR.format(parameter="part", first=first) + HELPERS).is_certain


@pytest.mark.parametrize(
    "text",
    [
        "with contextlib.ExitStack() as stack:\n    stack.callback(net(x).sum().backward)\n    «net.weight».data.zero_()",
        "def f(loss=net(x).sum()):\n    loss.backward()\n\n\n«net.weight».data.zero_()\nf()",
        "def f():\n    loss = net(x).sum()\n    later.append(lambda: loss.backward())\n\n\n"
        "f()\n«net.weight».data.zero_()\nlater[0]()",
        "def f():\n    raise ValueError(net(x).sum())\n\n\ntry:\n    f()\nexcept ValueError as error:\n"
        "    «net.weight».data.zero_()\n    error.args[0].backward()",
        "def f():\n    loss = net(x).sum()\n    yield\n    loss.backward()\n\n\nrun = f()\nnext(run)\n"
        "«net.weight».data.zero_()\nnext(run, None)",
        "class Step:\n    def __enter__(self):\n        self.loss = net(x).sum()\n\n    def __exit__(self, *e):\n"
        "        self.loss.backward()\n\n\nwith Step():\n    «net.weight».data.zero_()",
        "def f():\n    w = torch.ones(2, requires_grad=True)\n    e = []\n    e += [w * w]\n    «w».data.zero_()\n"
        "    return e\n\n\nf()[0].sum().backward()",
        "print(net.weight._version)\n«net.weight».data.zero_()\nprint(net.weight._version)",
    ],
)
def test_what_holds_a_graph_in_a_program_is_in_the_way(text: str) -> None:
    assert not fact("import contextlib\nnet = nn.Linear(2, 2)\nx = torch.ones(2)\nlater = []\n" + text).is_certain


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (
            "from own import loss, net\n«net.weight».data.zero_()\nloss.backward()\nprint(net)",
            "`loss` is imported; it may keep a graph for a later backward",
        ),
        (TRAINING.format(before=CHANGE, behind="pass"), "`loss` may be back-propagated behind it, through what it saved"),
        (
            TRAINING.format(before="total = loss if step == 0 else total + loss", behind=CHANGE) + "total.backward()",
            "`total` may be back-propagated behind it, through what it saved",
        ),
        (
            "losses = []\n" + TRAINING.format(before="losses.append(loss)", behind=CHANGE) + "sum(losses).backward()",
            "`losses` may hold what was computed",
        ),
        (
            TRAINING.format(before="net.last = loss", behind=CHANGE) + "net.last.backward()",
            "`last` may hold what was computed",
        ),
        (
            TRAINING.format(before="keep(loss)", behind=CHANGE).replace("net =", "from own import keep\nnet =", 1),
            "`keep` is imported; it may keep a graph for a later backward",
        ),
        (
            "def f(model):\n    «model.weight».data.zero_()",
            "`f` may be called from elsewhere, between a forward and its backward",
        ),
        (
            "def f(n):\n    x = torch.zeros(n)\n    for i in range(n):\n        use(x)\n        «x».data[i] = i\n    return x",
            "`f` may be called from elsewhere, between a forward and its backward",
        ),
        (
            CONSTRUCTOR.format(parameter="part", first="self.part = part"),
            "`__init__` may be called from elsewhere, between a forward and its backward",
        ),
        (
            CONSTRUCTOR.format(parameter="part", first="self.out = self.fc(torch.ones(size))"),
            "`__init__` may be called from elsewhere, between a forward and its backward",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self):\n        self.fc = nn.Linear(2, 2)\n        self.reset()\n\n"
            "    def reset(self):\n        «self.fc.weight».data.zero_()",
            "`reset` may be called from elsewhere, between a forward and its backward",
        ),
    ],
)
def test_unknown(text: str, doubt: str) -> None:
    assert fact(text).doubt == doubt
