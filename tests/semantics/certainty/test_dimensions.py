"""What has no dimensions for certain, so that an index of it raises, and the reasons where that is not certain."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import Answer
from torchlint.semantics.certainty.dimensions import Dimensions

HEADER = """\
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Variable


"""


def answer(text: str) -> tuple[Answer, str]:
    """What is known of the marked expression, and the doubt."""
    semantics, [node] = marked(HEADER + text)
    fact = semantics.of(Dimensions).has_none(node)
    return fact.answer, fact.doubt


@pytest.mark.parametrize(
    "text",
    [
        "loss = F.cross_entropy(net(x), y)\n«loss»",
        "loss = F.mse_loss(net(x), y, size_average=False)\n«loss»",
        "loss = F.triplet_margin_loss(a, b, c)\n«loss»",
        "criterion = nn.CrossEntropyLoss(weights).cuda()\nloss = criterion(net(x), y)\n«loss»",
        "criterion = nn.KLDivLoss(reduction='batchmean')\n«criterion(net(x), y)»",
        "«nn.MSELoss()(x, y)»",
        "«torch.mean(D(x))»",
        "«-torch.sum(torch.log(D(x)))»",
        "real, fake = torch.mean(D(x)), torch.mean(D(y))\nloss = -(real - 0.5 * fake)\n«loss»",
        "def f(x: Tensor):\n    return «x.max()»",
        "def f(x: Tensor):\n    gap = (x.mean() - x.size(0)).abs().pow(2)\n    «gap»",
        "loss = 0\nfor x in steps:\n    loss += F.nll_loss(net(x), x)\nloss.backward()\n«loss»",
        "def energy(x):\n    return torch.mean(torch.abs(net(x)))\nloss = energy(a) + torch.relu(3 - energy(b))\n«loss»",
        "def log(x):\n    return torch.log(x + 1e-8)\nz = torch.sum(x)\n«log(z)»",
        "def step(x):\n    loss = F.l1_loss(net(x), x)\n    return net(x), loss\nout, loss = step(a)\n«loss»",
        "«Variable(torch.sum(x))»",
        "model, criterion = net, nn.MSELoss()\nloss = criterion(model(x), y)\n«loss»",
    ],
)
def test_certain(text: str) -> None:
    assert answer(text) == (Answer.CERTAIN, "")


@pytest.mark.parametrize(
    "text",
    [
        "loss = F.mse_loss(net(x), y)\nloss.backward()\nprint('%.3f' % «loss».data[0])",
        "real = F.mse_loss(D(x), y)\nfake = F.mse_loss(D(z), y)\nloss = real + fake\nloss.backward()\n«loss»",
        "def step(x):\n    loss = F.l1_loss(net(x), x)\n    return net(x), loss\nout, loss = step(a)\n«loss»",
        "loss = 0\nfor x in steps:\n    loss += F.nll_loss(net(x), x)\nloss.backward()\n«loss»",
        "size = 64\ndata.next_batch(size)\nloss = F.mse_loss(x, y) / size\n«loss»",
        "seen = []\nloss = F.mse_loss(x, y)\nseen.append(loss.item())\n«loss»",
        "«torch.mean(D(x))»",
    ],
)
@pytest.mark.parametrize("reshaping", ["x.resize_as_(batch).copy_(batch)", "x.data.unsqueeze_(0)", "torch.add(x, y, out=x)"])
def test_what_is_reshaped_is_another_tensor(text: str, reshaping: str) -> None:
    assert answer(f"{reshaping}\n{text}") == (Answer.CERTAIN, "")


@pytest.mark.parametrize(
    "text",
    [
        "loss = F.mse_loss(x, y)\nloss.resize_as_(x)\n«loss»",
        "loss = F.mse_loss(x, y)\nother = loss\nother.resize_as_(x)\n«loss»",
        "loss = other = F.mse_loss(x, y)\nother.resize_as_(x)\n«loss»",
        "loss = (other := F.mse_loss(x, y))\nother.resize_as_(x)\n«loss»",
        "loss = F.mse_loss(x, y)\nkept.append(loss)\nkept[0].resize_as_(x)\n«loss»",
        "loss = F.mse_loss(x, y)\nfit(loss)\n«loss»\ndef fit(x):\n    x.resize_as_(batch)",
        "loss = F.mse_loss(x, y)\ndef f():\n    loss.resize_as_(x)\nf()\n«loss»",
        "loss = F.mse_loss(x, y)\ndef f():\n    global loss\n    loss.resize_as_(x)\nf()\n«loss»",
        "loss = F.mse_loss(x, y)\nlocals()['loss'].resize_as_(x)\n«loss»",
        "loss = F.mse_loss(x, y)\nsame = loss.contiguous()\nsame.resize_as_(x)\n«loss»",
        "loss = 0\nfor x in steps:\n    loss += F.mse_loss(x, y)\n    kept.append(loss)\nkept[0].resize_as_(x)\n«loss»",
        "real = F.mse_loss(x, y)\nreal.resize_as_(x)\nloss = real + 1\n«loss»",
        "loss = F.mse_loss(x, y)\nloss += 1\nother = loss\nother.resize_as_(x)\n«loss»",
        "for loss in [F.mse_loss(x, y)]:\n    loss.resize_as_(x)\n    «loss»",
        "def f():\n    loss = F.mse_loss(x, y)\n    yield loss\n    «loss»\nnext(f()).resize_as_(x)",
        "loss = F.mse_loss(x, y)\nmap(torch.Tensor.resize_as_, [loss], [x])\nz.resize_as_(x)\n«loss»",
        "loss = F.mse_loss(x, y)\ndef f():\n    return loss\nother = f()\nother.resize_as_(x)\nsame = f()\n«same»",
        "def f():\n    loss = F.mse_loss(x, y)\n    return loss, loss\none, two = f()\none.resize_as_(x)\n«two»",
        "def f(x):\n    return x\nloss = F.mse_loss(x, y)\nf(loss).resize_as_(x)\n«loss»",
        "loss = F.mse_loss(x, y)\nf = lambda: loss\nf().resize_as_(x)\n«loss»",
        "loss = F.mse_loss(x, y)\nloss.register_hook(hook)\nz.resize_as_(x)\n«loss»",
    ],
)
def test_what_is_reshaped_may_be_the_same_tensor(text: str) -> None:
    assert answer(text) == (Answer.UNKNOWN, "`resize_as_` may give it dimensions in place")


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("def log(loss):\n    «loss»", "`loss` is an argument; it may have dimensions"),
        ("loss = criterion(net(x), y)\n«loss»", "`loss` comes from `criterion(net(x), y)`; it may have dimensions"),
        ("«self.loss»", "`self.loss` may have dimensions"),
        ("loss = F.mse_loss(x, y)\nloss.unsqueeze_(0)\n«loss»", "`unsqueeze_` may give it dimensions in place"),
        ("loss = F.mse_loss(x, y)\ntorch.add(x, 1, out=loss)\n«loss»", "`out` may give it dimensions in place"),
        ("loss = F.mse_loss(x, y)\nloss.data = x\n«loss»", "`data` may give it dimensions in place"),
        (
            "def as_row(t):\n    t.data = t.data.view(1)\nloss = F.mse_loss(x, y)\nas_row(loss)\n«loss»",
            "`data` may give it dimensions in place",
        ),
        ("loss = net(x)\nloss.backward()\n«loss»", "`loss` comes from `net(x)`; it may have dimensions"),
        (
            "loss = F.mse_loss(x, y, reduction=how)\n«loss»",
            "`loss` comes from `F.mse_loss(x, y, reduction=how)`; it may have dimensions",
        ),
        (
            "loss = F.mse_loss(x, y, **options)\n«loss»",
            "`loss` comes from `F.mse_loss(x, y, **options)`; it may have dimensions",
        ),
        (
            "loss = F.cross_entropy(x, y, None, False)\n«loss»",
            "`loss` comes from `F.cross_entropy(x, y, None, False)`; it may have dimensions",
        ),
        ("c = nn.HuberLoss('none')\nloss = c(x, y)\n«loss»", "`loss` comes from `c(x, y)`; it may have dimensions"),
        (
            "c = nn.L1Loss()\nc.reduction = 'none'\nloss = c(x, y)\n«loss»",
            "`loss` comes from `c(x, y)`; it may have dimensions",
        ),
        ("c = nn.L1Loss()\nset_up(c)\nloss = c(x, y)\n«loss»", "`loss` comes from `c(x, y)`; it may have dimensions"),
        ("loss = torch.mean(x, 0)\n«loss»", "`loss` comes from `torch.mean(x, 0)`; it may have dimensions"),
        ("loss = (x - y).pow(2).mean()\n«loss»", "`loss` comes from `(x - y).pow(2).mean()`; it may have dimensions"),
        ("loss = torch.sum(x) * scale\n«loss»", "`loss` comes from `torch.sum(x) * scale`; it may have dimensions"),
        (
            "def log(x, eps=EPS):\n    return torch.log(x + eps)\nloss = log(torch.sum(a))\n«loss»",
            "`loss` comes from `log(torch.sum(a))`; it may have dimensions",
        ),
        (
            "loss = F.mse_loss(x, y) if x else other\n«loss»",
            "`loss` comes from `F.mse_loss(x, y) if x else other`; it may have dimensions",
        ),
    ],
)
def test_unknown(text: str, doubt: str) -> None:
    assert answer(text) == (Answer.UNKNOWN, doubt)


@pytest.mark.parametrize("given", ["reduction='none'", "None, False", "reduce=False"])
def test_refuted(given: str) -> None:
    text = f"loss = F.mse_loss(x, y, {given})\n«loss»"
    assert answer(text) == (Answer.REFUTED, "`loss` has dimensions")
