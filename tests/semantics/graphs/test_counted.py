"""Where `.detach()` in the place of `.data` can make no difference, and where a shared version counter may."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import pytest

from marked import marked
from torchlint.fact import CERTAIN
from torchlint.semantics import torch_api
from torchlint.semantics.graphs import counted
from torchlint.semantics.graphs.counted import Counted
from torchlint.semantics.provenance import modules

HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torchvision.utils import save_image\n"


def is_certain(text: str) -> bool:
    semantics, [node] = marked(HEADER + text)
    assert isinstance(node, ast.Attribute)
    fact = semantics.of(Counted).fact(node)
    assert fact == CERTAIN or fact.doubt
    return bool(fact == CERTAIN)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    _, predicted = torch.max(«x.data», 1)",
        "def f(x):\n    return «x.data».max(1, keepdim=True)[1].float()",
        "def f(x):\n    print(«x.data», f'{x}')",
        "def f(x):\n    return '%s' % «x.data»",
        "def f(x):\n    return f'{«x.data»:.3f}'",
        "def f(x):\n    return «x.data»[0].view(-1).item()",
        "def f(x):\n    return «x.data».cpu().numpy()",
        "def f(x):\n    save_image(«x.data»[:25], 'a.png')",
        "def f(x, out: torch.Tensor):\n    out.copy_(«x.data»)",
        "def f(x, out: torch.Tensor):\n    out.data = «x.data»",
        "def f(x, out: torch.Tensor):\n    out[0] = «x.data»",
        "def f(x, y):\n    return torch.cat((«x.data», y), 0)",
        "def f(x):\n    return «x.data» * 2 > 0",
        "def f(x, y: torch.Tensor):\n    return «x.data» + y",
        "def f(x, y: torch.Tensor):\n    with torch.no_grad():\n        return «x.data» * y",
        "def f(x):\n    y = «x.data»\n    return y.mean(), y.shape",
        "def f(x):\n    if «x.data»[0] > 1:\n        pass",
        "def f(x):\n    total = 0\n    total += «x.data».sum()\n    return total",
        "def f(x):\n    return read(«x.data»)\n\n\ndef read(y):\n    return y.sum()",
        "def f(x):\n    return «F.softmax(x, 1).data»",
        "def f(x):\n    return «(x + 1).data»",
        "def f(x):\n    return «torch.max(x, 1)[1].data»",
        "def f(x, y, log):\n    loss = F.mse_loss(x, y)\n    loss.backward()\n    log.append(«loss.data»)",
        "def f(x, y, write):\n    loss = F.mse_loss(x, y) + F.l1_loss(x, y)\n    loss.backward()\n    write(«loss.data»)",
        "g, d = nn.Linear(2, 3), nn.Linear(3, 1)\nfake = g(torch.randn(6, 2))\nloss = d(«fake.data»).mean()\nother = d(fake)",
        "cell = nn.GRUCell(2, 3)\nh = torch.zeros(1, 3)\nfor x in torch.randn(4, 1, 2):\n    h = cell(x, «h.data»)",
    ],
)
def test_certain(text: str) -> None:
    assert is_certain(text)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return «x.data»",
        "def f(x, y: torch.Tensor):\n    return «x.data» * y",
        "def f(x, y):\n    return «x.data» + y",
        "def f(x, kept):\n    kept.append(«x.data»)",
        "def f(self, x):\n    self.x = «x.data»",
        "def f(x, g):\n    g(«x.data»)",
        "def f(x):\n    y = «x.data»\n    y.add_(1)",
        "def f(x):\n    y = «x.data»\n    return y",
        "def f(x, w):\n    return F.linear(«x.data», w)",
        "def f(x, w):\n    return w[«x.data»]",
        "def f(x, w):\n    with torch.no_grad():\n        return F.dropout(«x.data», training=False)",
        "def f(x, w):\n    with torch.no_grad():\n        return torch.einsum('oi->io', «x.data»)",
        "def f(x, w):\n    with torch.no_grad():\n        return F.relu(«x.data», True)",
        "bank = torch.randn(5, 3)\nkey = «bank.data»[0]\nloss = (torch.randn(3, requires_grad=True) * key).sum()\nbank[1] = 0",
        "def f(x, y, g):\n    loss = F.mse_loss(x, y)\n    g(loss)\n    return «loss.data»",
        "def f(x, y):\n    loss = F.mse_loss(x, y)\n    loss.mul_(2)\n    return «loss.data»",
        "def f(x, y):\n    loss = F.mse_loss(x, y)\n    return «loss.data», loss * x",
        "def f(x):\n    y = torch.exp(x)\n    return «y.data», y.sum()",
        "g, d = nn.Linear(2, 3), nn.Linear(3, 1)\nfake = g(torch.randn(6, 2))\nloss = d(«fake.data»).mean()\nfake.clamp_(0, 1)",
        "g, d = nn.Linear(2, 3), nn.Sequential(nn.ReLU(True), nn.Linear(3, 1))\nfake = g(x)\nloss = d(«fake.data»).mean()",
        "g, d = nn.Linear(2, 3), make()\nfake = g(torch.randn(6, 2))\nloss = d(«fake.data»).mean()",
        "ids = []\nids += «x.data»",
    ],
)
def test_unknown(text: str) -> None:
    assert not is_certain(text)


REDUCTIONS = ("mean", "sum", "none")


@pytest.mark.parametrize("name", sorted(counted.LEAVING_MODULES))
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_losses_do_not_save_what_they_give(name: str, reduction: str) -> None:
    torch = pytest.importorskip("torch")
    last = name.rpartition(".")[2]
    kind: Any = getattr(torch.nn, last)
    x = torch.rand(3, 4, requires_grad=True)
    given = {
        "GaussianNLLLoss": (x, torch.rand(3, 4), torch.ones(3, 4)),
        "CosineEmbeddingLoss": (x, torch.rand(3, 4), torch.ones(3)),
        "MarginRankingLoss": (x, torch.rand(3, 4), torch.ones(3, 4)),
        "TripletMarginLoss": (x, torch.rand(3, 4), torch.rand(3, 4)),
        "CrossEntropyLoss": (x, torch.tensor([0, 1, 2])),
        "NLLLoss": (x, torch.tensor([0, 1, 2])),
        "MultiMarginLoss": (x, torch.tensor([0, 1, 2])),
        "MultiLabelMarginLoss": (x, torch.zeros(3, 4, dtype=torch.long)),
    }.get(last, (x, torch.rand(3, 4)))
    saved: set[int] = set()

    def noted(tensor: Any) -> Any:
        saved.add(tensor.untyped_storage().data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(noted, lambda tensor: tensor):
        loss = kind(reduction=reduction)(*given)
    assert saved or last in ("L1Loss",)
    assert loss.untyped_storage().data_ptr() not in saved


def made(name: str, given: tuple[object, ...]) -> modules.Made:
    call = ast.parse(f"m({', '.join(map(repr, given))})", mode="eval").body
    assert isinstance(call, ast.Call)
    return modules.Made(call, name)


def test_layers_that_make_nothing_new_are_listed() -> None:
    torch = pytest.importorskip("torch")
    shapes = [(4,), (1, 4), (2, 4, 4), (1, 4, 4, 4), (1, 4, 4, 4, 4)]
    constructions = [(), (1,), (4,), (1, 1), (4, 4), (1, 1, 1), (0,), (2, 0.0)]
    sharing = set()
    for name in sorted(torch_api.MODULES):
        kind: Any = getattr(torch.nn, name.removeprefix("torch.nn."), None)
        for given, shape in itertools.product(constructions, shapes) if kind is not None else ():
            if modules.works_in_place(made(name, given)):
                continue
            x = torch.rand(shape)
            for training in (True, False):
                try:
                    result = kind(*given).train(training)(x)
                except Exception:
                    continue  # it takes something else
                if isinstance(result, torch.Tensor) and result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
                    sharing.add(name)
    assert sharing - torch_api.CONTAINER_MODULES - {"torch.nn.Identity"} == {
        name for name in sharing if any(word in name for word in counted.MAY_GIVE_THEIR_INPUT)
    }
    assert sharing
