"""What a value was put through last, followed through names, layers, models and functions."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.scores.activations import Activations, Origin

MODELS = """
from collections import OrderedDict
from torchvision import models

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.act = nn.Softmax(dim=1)

    def forward(self, x):
        return self.act(self.fc(x))

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 2), nn.LogSoftmax(dim=1))
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.net(x), {"gate": torch.sigmoid(self.fc(x)).squeeze(1)}

class Modal(Net):
    def forward(self, x):
        if self.training:
            return self.fc(x)
        return self.act(self.fc(x))

"""


def origin(snippet: str) -> Origin | None:
    semantics, (node,) = marked(MODELS + snippet)
    return Activations(semantics).origin(node)


@pytest.mark.parametrize(
    ("snippet", "output"),
    [
        ("«F.softmax(x, dim=1)»", "softmax"),
        ("«x.softmax(-1)»", "softmax"),
        ("«torch.sigmoid(x)»", "sigmoid"),
        ("«F.log_softmax(x, 1).view(-1, 3)»", "log-softmax"),
        ("y = x.sigmoid()\nz = y.squeeze(1).float()\n«z»", "sigmoid"),
        ("«nn.Softmax(dim=1)(x)»", "softmax"),
        ("head = nn.Linear(2, 2)\n«head(x).unsqueeze(0)»", "logits"),
        ("«Net()(x)»", "softmax"),
        ("net = nn.DataParallel(Net()).cuda()\n«net(x)»", "softmax"),
        ("net = Net()\n«net.forward(x)»", "softmax"),
        ("«Pair()(x)[0]»", "log-softmax"),
        ("a, b = Pair()(x)\n«b['gate']»", "sigmoid"),
        ("net = nn.Sequential(nn.Linear(1, 1), nn.Sigmoid(), nn.Flatten(0))\n«net(x)»", "sigmoid"),
        ("net = nn.Sequential(OrderedDict([('a', nn.Linear(1, 1)), ('b', nn.Softmax(1))]))\n«net(x)»", "softmax"),
        ("layers = [nn.Linear(1, 1)]\nlayers.append(nn.Sigmoid())\nnet = nn.Sequential(*layers)\n«net(x)»", "sigmoid"),
        ("net = models.vgg16()\nnet.classifier = nn.Sequential(nn.Linear(1, 1), nn.LogSoftmax(1))\n«net(x)»", "log-softmax"),
        ("def f(x): return torch.softmax(x, 1)\n«f(x)»", "softmax"),
        ("f = lambda x: torch.softmax(x, 1)\n«f(x)»", "softmax"),
        ("def loss(p): return «p»\nloss(torch.sigmoid(x))", "sigmoid"),
        ("y = torch.sigmoid(x) if a else x.sigmoid()\n«y»", "sigmoid"),
        ("class A:\n def f(self, x): self.p = x.sigmoid()\n def g(self): return «self.p»", "sigmoid"),
        ("for row in x.softmax(1): «row»", "softmax"),
        ("for i, (row, y) in enumerate(zip(x.softmax(1), ys)): «row»", "softmax"),
        ("[«row» for row in torch.sigmoid(x)]", "sigmoid"),
        ("«torch.exp(F.log_softmax(x, 1))»", "softmax"),
        ("y = nn.LogSoftmax(1)(x)\n«y.exp()»", "softmax"),
        # something else is changed, or it stays what it is
        ("p = x.sigmoid()\np.clamp_(0.1)\n«p»", "sigmoid"),
        ("p = x.sigmoid()\ntorch.clamp_(p, 0.1)\n«p»", "sigmoid"),
        ("p = x.sigmoid()\nprint(p)\ntorch.log(p)\nseen.append(p)\n«p»", "sigmoid"),
        ("def show(p): print(p.log())\np = x.sigmoid()\nshow(p)\n«p»", "sigmoid"),
        ("from helpers import scale\np = x.sigmoid()\nq = scale(p)\n«p»", "sigmoid"),
        ("d = {'p': x.sigmoid(), 'q': x}\nd['q'] = x.log()\n«d['p']»", "sigmoid"),
        ("d = {'p': x.sigmoid()}\nfor v in d.values(): print(v)\n«d['p']»", "sigmoid"),
        ("p = x.sigmoid()\nfor v in (p, x): print(v)\n«p»", "sigmoid"),
    ],
)
def test_is_known(snippet: str, output: str) -> None:
    found = origin(snippet)
    assert found is not None
    assert found.output.value == output


@pytest.mark.parametrize(
    "snippet",
    [
        "«unknown(x)»",
        "«torch.log(torch.softmax(x, 1))»",
        "«1 - torch.sigmoid(x)»",
        "«Modal()(x)»",
        "«Pair()(x)»",
        "y = torch.sigmoid(x)\nif a: y = x\n«y»",
        "y = torch.sigmoid(x)\ny = y * 2\n«y»",
        "layers = [nn.Linear(1, 1)]\nfor i in r: layers.append(nn.Sigmoid())\nnet = nn.Sequential(*layers)\n«net(x)»",
        "act = nn.Sigmoid() if a else nn.Identity()\n«act(x)»",
        "def loss(p): return «p»\nloss(torch.sigmoid(x))\nloss(x)",
        "for y in ys: y = «torch.relu(y)»",
        "for i, y in x.softmax(1): «y»",
        "for y in zip(x.softmax(1), x): «y»",
        "for y in unknown(x.softmax(1)): «y»",
        "«torch.exp(x)»",
        "«torch.exp(torch.sigmoid(x))»",
        "net = models.vgg16()\n«net(x)»",
        "class A:\n def f(self, x): self.p, self.q = x.sigmoid(), x\n def g(self): return «self.p»",
        "class A:\n def f(self, x): self.p = x.sigmoid()\n def h(self, x): self.p = x\n def g(self): return «self.p»",
        # changed in place
        "class A:\n def f(self, x): self.p = x.sigmoid(); self.p.log_()\n def g(self): return «self.p»",
        "class A:\n def f(self, x): self.p = x.sigmoid(); q = self.p; q.log_()\n def g(self): return «self.p»",
        "p = x.sigmoid()\ntorch.log_(p)\n«p»",
        "p = x.sigmoid()\np.data = p.data.log()\n«p»",
        "p = x.sigmoid()\nfor v in (p,): v.log_()\n«p»",
        "p = x.sigmoid()\nfor v in [p, x]: v.log_()\n«p»",
        "p = x.sigmoid()\n[v.log_() for v in [p, x]]\n«p»",
        "def to_log(p): p.clamp_(min=1e-8).log_()\np = x.sigmoid()\nto_log(p)\n«p»",
        "def to_log(p): p.log_()\ndef both(p, q): to_log(p); to_log(q)\np = x.sigmoid()\nboth(x, q=p)\n«p»",
        "from helpers import to_log\np = x.sigmoid()\nto_log(p)\n«p»",
        "import helpers\np = x.sigmoid()\nhelpers.to_log(p)\n«p»",
        "d = {'p': x.sigmoid()}\nd['p'] = d['p'].log()\n«d['p']»",
        "d = {'p': x.sigmoid()}\nd[key] = x\n«d['p']»",
        "d = {'p': x.sigmoid()}\nd.update(p=x)\n«d['p']»",
        "d = {'p': x.sigmoid()}\nd['p'].log_()\n«d['p']»",
        "d = {'p': x.sigmoid()}\nfor v in d.values(): v.log_()\n«d['p']»",
        "d = {'p': x.sigmoid()}\ne = d\ne['p'].log_()\n«d['p']»",
        "d = [x.sigmoid()]\nd[0].log_()\n«d[0]»",
        "d = [x.sigmoid()]\nd[0] = x\n«d[0]»",
        "d = [x.sigmoid()]\nfor v in d: v.log_()\n«d[0]»",
    ],
)
def test_is_not_certain(snippet: str) -> None:
    assert origin(snippet) is None


def test_says_where_it_is_from() -> None:
    found = origin("y = Net()(x)\n«y»")
    assert found is not None and found.operand is not None
    assert ast.unparse(found.node) == "self.act(self.fc(x))"
    assert ast.unparse(found.operand) == "self.fc(x)"
    assert [getattr(function, "name", "") for function in found.functions] == ["forward"]
    assert [binding.name for binding in found.names] == ["y"]
    assert found.unique


def test_says_that_there_are_several_places() -> None:
    found = origin("y = torch.sigmoid(x) if a else x.sigmoid()\n«y»")
    assert found is not None and not found.unique
