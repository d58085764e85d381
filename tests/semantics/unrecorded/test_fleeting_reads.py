"""Which reads of ``.data`` leave no tensor over the memory that was read."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.unrecorded.fleeting_reads import FleetingReads

_START = "import torch\nimport torch.nn as nn\nfrom torch.optim import Optimizer\n"
_STEP = """\
class Decay({base}):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                {statement}
"""


def is_fleeting(snippet: str) -> bool:
    semantics, (node,) = marked(_START + snippet)
    assert isinstance(node, ast.Attribute)
    return semantics.of(FleetingReads).is_one(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "print(' '.join(f'{n:.2f}' for n in «row.cpu().data»))",
        "print([f'{n}' for n in «row.data»[0].view(-1)])",
        "kept = «w.data».clone().zero_()",
        "noise = «w.data».clone().normal_()",
        "kept.append(«layer.weight.data».clone())",
        "kept[a:b] = «layers[i].weight.data».abs().clone()",
        "kept = «layer.bias.data»[chosen].clone()",
        "for w in weights:\n    kept.append(«w.data».clone())",
        "for i, weight in enumerate(kept):\n    scales.append(torch.max(«weight.data») / 3)",
        "for n, value in net.named_parameters():\n    total.append(«value.data».abs().mean())",
        "mean = torch.mean(«self.W[i].data»)",
        "before[i].copy_(«self.W[i].data»)",
        "total += reduce_tensor(«loss.data», n).item()",
        "def f(x):\n    return torch.tensor(«x.data», device='cpu')",
        "def f(x, a):\n    return torch.tensor(«x.data»[0, a:].cpu())",
        "def f(net, x):\n    fake = «net(x).data»\n    fake = fake.cpu().detach().numpy()\n    return fake",
        "def f(net, x):\n    fake = «net(x).data»\n    print(fake.detach())\n    return fake.squeeze().detach()",
        "total += dist_utils.all_reduce_mean(«loss.data»).item()",
        _STEP.format(base="Optimizer", statement="grad = p.grad.add(«p.data», alpha=0.1)"),
        _STEP.format(base="Optimizer", statement="update += 0.1 * «p.data»"),
        _STEP.format(base="torch.optim.SGD", statement="decayed = 0.1 * «p.data»"),
        _STEP.format(base="torch.optim.Optimizer", statement="norm = torch.norm(«p.data»)"),
        _STEP.format(base="Optimizer", statement="wide = «p.data».float(); wide.add_(1.0); p.data.copy_(wide)"),
        _STEP.format(
            base="torch.optim.Optimizer",
            statement="v = «p.data»; m = torch.zeros_like(v); v.mul_(2); u = m.type_as(v) + v; p.data = v",
        ),
    ],
)
def test_nothing_is_left(snippet: str) -> None:
    assert is_fleeting(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "kept = [n for n in «row.data»]",  # views of it
        "print([f'{n}' + g(n) for n in «row.data»])",
        "for n in «row.data»: kept.append(n)",
        "kept = «w.data».clone()",
        "kept = «w.data».zero_()",
        "kept = «layer.weight.data»[chosen]",
        "kept = «layer.weight.data».abs()",
        "kept = «attention.weights.data».clone()",
        "class N(nn.Module):\n    def forward(self, x):\n        return x @ «self.weight.data».clone()",
        "kept.append(reduce_tensor(«loss.data», n))",
        "for w in weights:\n    kept.append(«w.data».mean(0))",
        "for w in weights:\n    penalty += torch.norm(«w.data»)",
        "for w in weights:\n    kept.append(torch.max(«w.data», 1))",
        "for w in weights:\n    kept.append(«w.data»)",
        "for w in weights:\n    w = net(w)\n    kept.append(«w.data».clone())",
        "for h in hidden:\n    kept.append(«h.data».clone())",
        "w = net(x)\nkept = torch.mean(«w.data»)",
        "kept = «self.outputs[i].data».clone()",
        "total += scaled(«loss.data», n).item()",
        _STEP.format(base="Optimizer", statement="update += «p.data»"),
        _STEP.format(base="nn.Module", statement="update += 0.1 * «p.data»"),
        _STEP.format(base="Optimizer", statement="slow = «p.data»"),  # over the same memory
        _STEP.format(base="Optimizer", statement="rows = «p.data».view(-1)"),
        _STEP.format(base="Optimizer", statement="self.keep(«p.data»)"),
        _STEP.format(base="nn.Module", statement="grad = p.grad.add(«p.data», alpha=0.1)"),
        "class Decay(Optimizer):\n    def step(self):\n        p = self.net(x)\n        kept = 0.1 * «p.data»",  # no parameter
        _STEP.format(base="Optimizer", statement="wide = «p.data».float(); self.kept[p] = wide; p.data.copy_(wide)"),
        _STEP.format(base="Optimizer", statement="wide = «p.data».float(); keep(wide); p.data.copy_(wide)"),
        _STEP.format(base="Optimizer", statement="wide = «p.data».float(); kept.append(wide); p.data.copy_(wide)"),
        _STEP.format(base="Optimizer", statement="wide = «p.data».float(); p.data.copy_(wide); other = wide"),
        _STEP.format(base="Optimizer", statement="wide = «p.data».float(); wide.add_(1.0)"),
        "def f(x):\n    return torch.as_tensor(«x.data»)",
        "def f(tensor, x):\n    return tensor(«x.data»)",
        "def f(x):\n    return torch.tensor(3, device=«x.data»)",
        "def f(net, x):\n    fake = «net(x).data»\n    show(fake)\n    return fake.detach()",  # one use of two
        "def f(net, x):\n    fake = «net(x).data»",
        "def f(net, x):\n    fake = «net(x).data»\n    return fake.sin().detach()",
        _STEP.format(base="Base", statement="wide = «p.data».float(); wide.add_(1.0); p.data.copy_(wide)"),
    ],
)
def test_a_tensor_is_left(snippet: str) -> None:
    assert not is_fleeting(snippet)
