"""Of which values, parameters first of all, the ``.data`` goes into new tensors alone."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.unrecorded.read_parameters import ReadParameters

_START = "import torch\nimport torch.nn as nn\n\n"
_TWO = "for p, q in zip(one.parameters(), other.parameters()):\n    "


def is_read(snippet: str) -> bool:
    semantics, (node,) = marked(_START + snippet)
    assert isinstance(node, ast.Attribute)
    return semantics.of(ReadParameters).is_one(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "def keep(self, name, param: nn.Parameter):\n    self.kept[name] = «param.data».to('cpu').clone()",
        "for n, p in net.named_parameters():\n    kept[n] = «p.data».cpu().clone()",
        "own = dict(net.named_parameters())\nfor n in names:\n    kept[n] = «own[n].data».clone()",
        "kept = dict(net.named_parameters())['a']\nfor n, p in net.named_parameters():\n"
        "    kept[n] = decay * kept[n] + (1 - decay) * «p.data»",
        "for n, p in net.named_parameters():\n"
        "    average = (1 - decay) * «p.data» + decay * kept[n]\n    kept[n] = average.clone()",
        "for n, p in net.named_parameters():\n    half = «p.data» / 2\n    self.kept = half",
        "for n, p in net.named_parameters():\n    ema.update(n, «p.data»)",
        "for n, p in net.named_parameters():\n    self.ema_of_net.register(n, «p.data»)",
        _TWO + "norms.append((«p.data» - q.data).norm())",
        _TWO + "norms.append(torch.norm(p.data - «q.data»).item())",
        _TWO + "p.grad.data += mu * («p.data» - q.data)",
        _TWO + "p.grad += mu * (p.data - «q.data»)",
        _TWO + "far += torch.norm(«p.data» - q.data) ** 2\n    p.grad.data += p.data - q.data",
        "for i, (p, q) in enumerate(zip(one.parameters(), other.parameters())):\n    kept[i] = «p.data» - q.data",
        "def go(self, n, param: nn.Parameter):\n    data = «param.data»\n    new = self.d * data + (1 - self.d) * self.get(n)",
        "def keep(self, given):\n    self.kept = «given.data».clone()",
        "start = «noise.data».clone()",
        "pairs = dict(kept)\nkept = pairs['a'], «pairs['a'].data».clone()",
    ],
)
def test_new_tensors_are_made(snippet: str) -> None:
    assert is_read(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "for n, p in net.named_parameters():\n    data = «p.data»\n    keys.append(data)",
        "for n, p in net.named_parameters():\n    data = «p.data»\n    new = 2 * data\n    data.mul_(2)",
        "for n, p in net.named_parameters():\n    kept[n] = «p.data»",
        "for n, p in net.named_parameters():\n    kept[n] = «p.data».cpu()",  # the same memory
        "for n, p in net.named_parameters():\n    schema.update(n, «p.data»)",
        "for n, p in net.named_parameters():\n    kept.update({n: «p.data»})",
        "for n, p in net.named_parameters():\n    ema.update(n, 3, net(p), «p.data».view(-1))",
        "for p in layers:\n    ema.update(«p.data»)",
        "for p in layers:\n    kept.append(2 * «p.data»)",
        "def keep(self, out: torch.Tensor):\n    self.kept = «out.data».clone()",  # named as what a loss is made of
        "def loss_of(self, given):\n    return measure(«given.data».clone())",
        "class N(nn.Module):\n    def forward(self, given):\n        return self.net(«given.data».clone())",
        "def keep(self, given):\n    self.kept = «given.data».detach()",
        "for n, p in net.named_parameters():\n    half = «p.data» / 2\n    kept[n] = half.clone()\n    train(half)",
        "for n, p in net.named_parameters():\n    half = «p.data» / 2\n    self.loss = half",
        "for n, p in net.named_parameters():\n    half = «p.data».view(-1)\n    kept[n] = half",  # the same memory
        "for n, p in net.named_parameters():\n    half = «p.data» / 2\n    kept[n] = net(half)",
        _TWO + "far += torch.norm(«p.data» - q.data)",  # perhaps a penalty without gradients
        _TWO + "far = far + torch.norm(«p.data» - q.data)",
        _TWO + "losses.append(torch.norm(«p.data» - q.data))",
        _TWO + "self.loss = loss + torch.norm(«p.data» - q.data)",
        "def penalty(net, kept):\n    for p in net.parameters():\n        kept.append(torch.norm(«p.data»))",
        _TWO + "kept.append(F.linear(x, «p.data»))",
        "class N(nn.Module):\n    def forward(self, ids):\n        return self.table.data[ids], «self.table.data»[ids]",
        "class N(nn.Module):\n    def forward(self, s):\n        for p in self.parameters():\n            s[0] = 2 * «p.data»",
        "_, found = torch.max(«logits.data», 1)",
        "top = «log_probs.data».topk(3)",
    ],
)
def test_anything_may_be_made(snippet: str) -> None:
    assert not is_read(snippet)
