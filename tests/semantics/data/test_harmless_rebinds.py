"""Which assignments to a ``.data`` have nothing to hide: swaps, shared weights, an optimizer's state, plain data."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.data.rebinds import DataRebinds

HEADER = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\nfrom torchvision.utils import save_image\n"


def is_meant(body: str) -> bool:
    text = body.replace("\n", "\n    ")
    arguments = "net: nn.Module, other: nn.GRU, optimizer, x: torch.Tensor"
    semantics, (node,) = marked(f"{HEADER}def f({arguments}):\n    {text}\n    loss.backward()")
    assert isinstance(node, ast.Attribute)
    return semantics.of(DataRebinds).all[node].is_meant


@pytest.mark.parametrize(
    "body",
    [
        "for a, b in zip(net.parameters(), other.parameters()):\n    «a.data», b.data = b.data, a.data",
        "for a, b in zip(net.parameters(), other.parameters()):\n    «a.data», b.data = b.data.clone(), a.data",
        "cell = nn.GRUCell(3, 4)\n«cell.weight_hh.data» = other.weight_hh_l0.data\nreturn cell",
        "kept = x > 0\n«net.bias.data» = net.bias.data[kept].clone()",
        "«net.weight.data» = net.weight.data[:, :3]",
        "norm = Norm(3)\n«norm.weight.data» = other.weight_hh_l0.data.clone().detach()\nreturn norm",
        "for state in optimizer.state.values():\n"
        "    for v in state.values():\n        if torch.is_tensor(v):\n            «v.data» = v.data.to(x.device)",
        "z = torch.randn(1, 100)\n«z.data» = x * 0.5 + 1\nsave_image(net(z), 'z.png')",
        "z = Variable(torch.randn(1, 100))\n«z.data» = x * 0.5 + 1\nsave_image(net(z), 'z.png')",
        "fake = net(x)\n«fake.data» = fake.data.mul(0.5)\nsave_image(fake.data, 'fake.png')",
        "fake = net(x)\n«fake.data» = fake.data.mul(0.5)\nsave_image(fake, 'fake.png')",
        "«net.weight.data» = net.weight.data.to(x.device)",
        "norm = Norm(3)\n«norm.running_mean.data» = other.running_mean.data[:3].clone()",
        "old = {name: torch.zeros(3) for name in x}\nfor name, p in net.named_parameters():\n"
        "    «old[name].data» = p.data.clone()",
        "delta = torch.zeros_like(x, requires_grad=True)\nfor _ in range(9):\n    net(x + delta).sum().backward()\n"
        "    d = delta + 0.1 * delta.grad.sign()\n    «delta.data» = torch.max(torch.min(d, x), -x)",
        "z = x + 0.1\nz.requires_grad = True\nfor _ in range(9):\n    net(z).sum().backward()\n"
        "    step = z.grad.detach().sign()\n    «z.data» = z.detach() + 0.1 * step",
        "z = x.clone().requires_grad_()\nnet(z).sum().backward()\n"
        "z.data = z.detach() + 0.1 * torch.sign(z.grad)\n«z.data» = torch.clamp(z - x, -1, 1) + x",
        "class Noise(torch.Tensor):\n    def to(self, device):\n        new = Noise(self)\n"
        "        «new.data» = super().to(device)\n        return new",
    ],
)
def test_nothing_is_hidden(body: str) -> None:
    assert is_meant(body)


@pytest.mark.parametrize(
    "body",
    [
        "for a, b in zip(net.parameters(), other.parameters()):\n    «a.data» = b.data",
        "cell = nn.GRUCell(3, 4)\ncell(x)\n«cell.weight_hh.data» = other.weight_hh_l0.data",
        "cell = nn.GRUCell(3, 4)\n«cell.weight_hh.data» = other.weight_hh_l0.data * 2",
        "«net.weight.data» = other.weight_hh_l0.data",
        "z = x.clone().requires_grad_()\nnet(z).sum().backward()\n«z.data» = z.detach() + 0.1 * z.grad",
        "z = x.clone().requires_grad_()\nnet(z).sum().backward()\ns = z.grad.sign()\n«z.data» = other.weight_hh_l0.data * s",
        "w = net.weight\nnet(x).sum().backward()\n«w.data» = w.data - 0.1 * w.grad.sign()",  # a weight
        "delta = torch.zeros_like(x, requires_grad=True)\nd = net(x)\n«delta.data» = torch.min(d, x)",
        "for v in net.state_dict().values():\n    «v.data» = x",
        "ps = {name: nn.Parameter(torch.zeros(3)) for name in x}\nfor name, p in other.named_parameters():\n"
        "    «ps[name].data» = p.data.clone()",
        "class Noise(nn.Linear):\n    def to(self, device):\n        new = nn.Linear(3, 3)\n"
        "        «new.weight.data» = super().to(device)\n        return new",
        "fake = net(x)\n«fake.data» = fake.data.mul(0.5)\nloss = fake.mean()",
        "z = torch.randn(1, 100, requires_grad=True)\n«z.data» = x * 0.5 + 1",
        "w = torch.randn(1, 100)\n«w.data» = x * 0.5 + 1",
        "images = torch.randn(1, 100)\n«images.data» = images.data.cuda()\nnet(images)",
    ],
)
def test_something_may_be_hidden(body: str) -> None:
    assert not is_meant(body)


def is_first(body: str, name: str = "__init__") -> bool:
    text = body.replace("\n", "\n        ")
    arguments = "self, vectors, other: nn.Linear, k=3"
    header = f"{HEADER}class Net(nn.Module):\n    def {name}({arguments}):\n        super().__init__()\n        "
    semantics, (node,) = marked(f"{header}{text}\ndef train(loss): loss.backward()")
    assert isinstance(node, ast.Attribute)
    return semantics.of(DataRebinds).all[node].is_meant


REPLACED = """
def built(old, loss, x):
    new = nn.Linear(4, 3)
    «new.weight.data» = old.fc.weight.data[1:]
    old.fc = new
    return old

def train(loss): loss.backward()
"""
PERTURBED = """
class Sharp(torch.optim.Optimizer):
    @torch.no_grad()
    def climb(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["old"] = p.data.clone()
                p.add_(p.grad)

    @torch.no_grad()
    def back(self):
        for group in self.param_groups:
            for p in group["params"]:
                «p.data» = self.state[p]["old"]
"""


def is_meant_in(text: str) -> bool:
    semantics, (node,) = marked(f"{HEADER}{text}")
    assert isinstance(node, ast.Attribute)
    return semantics.of(DataRebinds).all[node].is_meant


@pytest.mark.parametrize(
    "text",
    [
        REPLACED,
        REPLACED.replace("[1:]", "[:, 1:].clone()"),
        PERTURBED,
        PERTURBED.replace("p.data.clone()", "p.clone()"),
        PERTURBED.replace("p.data.clone()", "p.detach().clone()"),
    ],
)
def test_weights_are_handed_over_or_put_back(text: str) -> None:
    assert is_meant_in(text + "def more(loss): loss.backward()\n")


@pytest.mark.parametrize(
    "text",
    [
        REPLACED.replace("    return old", "    loss.backward()"),
        REPLACED.replace("    old.fc = new", "    old.fc = new(x)"),
        REPLACED.replace("nn.Linear(4, 3)", "old.fc"),
        REPLACED.replace("weight.data[1:]", "weight.data[1:] * 2"),
        PERTURBED.replace("torch.optim.Optimizer", "nn.Module"),
        PERTURBED.replace("@torch.no_grad()", "@torch.enable_grad()"),
        PERTURBED.replace("p.data.clone()", "p.data"),
        PERTURBED.replace("p.data.clone()", "q.data.clone()"),
        PERTURBED.replace('= self.state[p]["old"]', '= self.state[p]["mean"]'),
    ],
)
def test_weights_may_not_fit(text: str) -> None:
    assert not is_meant_in(text + "def more(loss): loss.backward()\n")


COMPUTED = "w = filter_of(k)\nfor m in self.modules():\n    if isinstance(m, nn.Conv2d): «m.weight.data» = w.view(1, 1, k, k)"


@pytest.mark.parametrize(
    "body",
    [
        COMPUTED,
        "w = self.net.proj.weight.detach()\nself.net.proj = nn.Conv2d(3, 4, k)\n«self.net.proj.weight.data» = w[:, :, ::k]",
        "«self.fc.weight.data» = init_of(k) * 0.1",
        "«self.fc.weight.data» = -identity(k)",
    ],
)
def test_a_constructor_computes_first_values(body: str) -> None:
    assert is_first(body)


@pytest.mark.parametrize(
    "body",
    [
        "«self.fc.weight.data» = vectors",
        "«self.fc.weight.data» = vectors[:k]",
        "«self.fc.weight.data» = vectors.float().t()",
        "«self.fc.weight.data» = torch.from_numpy(vectors)",
        "v = np.load('v.npy')\n«self.fc.weight.data» = torch.from_numpy(v).float()",
        "«self.fc.weight.data» = torch.load('a.pt', weights_only=True)['w'].clone() * 2",
        "«self.fc.weight.data» = self.emb.weight.data",  # one memory for two weights
        "«self.fc.weight.data» = other.weight.data.clone()",
        "«self.fc.weight.data» = other.weight[:k]",
        "def hook(w): «self.fc.weight.data» = filter_of(w)",
        "assert other.weight.size() == k.size()\n«self.fc.weight.data» = other.weight.data",
        "assert other.weight.size() == self.fc.weight.size()\nother = k\n«self.fc.weight.data» = other.weight.data",
        "assert self.emb.weight.shape == self.fc.weight.shape\n«self.fc.weight.data» = self.emb.weight.data",
    ],
)
def test_a_constructor_takes_over_what_need_not_fit(body: str) -> None:
    assert not is_first(body)


CHECKED = (
    "for a, b in zip(other.children(), self.fc.children()):\n    assert a.weight.size() == b.weight.size()\n"
    "    assert a.bias.shape == b.bias.shape\n    b.weight.data = a.weight.data\n    «b.bias.data» = a.bias.data"
)


def test_a_constructor_takes_over_what_is_seen_to_fit() -> None:
    assert is_first(CHECKED)
    assert is_first("assert self.fc.weight.shape == other.weight.data.shape\n«self.fc.weight.data» = other.weight.data.clone()")
    assert not is_first(CHECKED, "step")


def test_other_methods_run_in_training() -> None:
    assert not is_first(COMPUTED, "rescale")


PARAMETER = "self.periods = nn.Parameter(torch.zeros(4))"


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        ("self.register_buffer('periods', torch.zeros(4))", True),
        (f"self.register_buffer('others', torch.zeros(4))\n        {PARAMETER}", False),
        (f"self.register_buffer(name, torch.zeros(4))\n        {PARAMETER}", False),
        (PARAMETER, False),
    ],
)
def test_buffers_are_known_to_no_optimizer(registered: str, expected: bool) -> None:
    start = f"{HEADER}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {registered}\n"
    method = "    def reset(self, given):\n        periods = given * 2\n        «self.periods.data» = periods\n"
    semantics, (node,) = marked(f"{start}{method}def train(loss): loss.backward()")
    assert isinstance(node, ast.Attribute)
    assert semantics.of(DataRebinds).all[node].is_meant is expected


READ_IN = "def load_weights({given}):\n    {check}\n    «p.data» = {value}\n"
RAISED = "try:\n        assert p.shape == a.shape\n    except AssertionError as e:\n        {}\n    print(p)"


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        ("assert p.shape == a.shape", "torch.from_numpy(a)", True),
        ("assert a.shape == p.data.shape", "torch.from_numpy(a).clone()", True),
        (RAISED.format("raise"), "torch.from_numpy(a)", True),
        (RAISED.format("pass"), "torch.from_numpy(a)", False),
        (RAISED.format("raise"), "torch.from_numpy(b)", False),
        ("assert p.shape == a.shape\n    a = b", "torch.from_numpy(a)", False),
        ("assert p.shape != a.shape", "torch.from_numpy(a)", False),
        ("print(p)", "torch.from_numpy(a)", False),
    ],
)
def test_values_of_an_array_that_is_seen_to_fit(check: str, value: str, expected: bool) -> None:
    text = READ_IN.format(given="p: nn.Parameter, a, b", check=check, value=value)
    semantics, (node,) = marked(f"{HEADER}{text}def train(loss): loss.backward()")
    assert isinstance(node, ast.Attribute)
    assert semantics.of(DataRebinds).all[node].is_meant is expected


def test_a_weight_that_is_drawn_and_then_scaled() -> None:
    body = "nn.init.normal_(net.weight.data)\n    «net.weight.data» = net.weight.data * 0.01"
    text = f"{HEADER}def f(net, other):\n    {body}\n"
    for code, expected in ((text, True), (text.replace("nn.init", "other"), False), (text + "    net(1).backward()", False)):
        semantics, (node,) = marked(code)
        assert isinstance(node, ast.Attribute)
        assert semantics.of(DataRebinds).all[node].is_meant is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("«net.weight.data» = x[kept.mask.tolist(), :].clone()", True),
        ("rows = x[:, prune_mask]\n«net.weight.data» = rows.clone()", True),
        ("rows = x[:, prune_mask]\n«net.weight.data» = rows[keep, :]", True),
        ("«net.weight.data» = x[words]", False),
        ("«net.weight.data» = x[:, 1:]", False),
        ("rows = x[mask]\nif net: rows = other\n«net.weight.data» = rows", False),
        ("«net.weight.data» = mask[x]", False),
    ],
)
def test_what_a_mask_leaves_has_another_shape(body: str, expected: bool) -> None:
    text = body.replace("\n", "\n    ")
    semantics, (node,) = marked(f"{HEADER}def f(net, x: torch.Tensor, kept, mask, other):\n    {text}\n    loss.backward()")
    assert isinstance(node, ast.Attribute)
    found = semantics.of(DataRebinds).all[node]
    assert (found.is_meant, found.copied is None) == (expected, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("torch.randn(4, 3) * 0.01", True),
        ("0.01 * torch.randn(4, 3) + 1", True),
        ("torch.randn(4, 3) / math.sqrt(3)", True),
        ("torch.randn(4, 3) * other", False),
        ("vectors * 0.01", False),
        ("torch.Tensor(vectors) * 0.01", False),
    ],
)
def test_the_first_values_of_a_layer_made_above(value: str, expected: bool) -> None:
    body = f"import math\n    layer = nn.Linear(3, 4)\n    if small:\n        «layer.weight.data» = {value}\n    return layer"
    semantics, (node,) = marked(f"{HEADER}def f(small, other, vectors):\n    {body}\ndef g(loss): loss.backward()")
    assert isinstance(node, ast.Attribute)
    assert semantics.of(DataRebinds).all[node].is_meant is expected
