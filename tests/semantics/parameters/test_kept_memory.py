"""Where the memory of a ``.data`` is kept, given back or handed on, and where it is only read."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.parameters.kept_memory import KeptMemory

START = "import math\nimport numpy as np\nimport torch\nimport torch.nn as nn\n"


def asked(snippet: str) -> tuple[bool, bool]:
    semantics, [node] = marked(START + snippet)
    found = semantics.of(KeptMemory)
    return found.is_kept(node), found.is_pooled(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(p):\n    return «p.data»",
        "def f(p):\n    yield «p.data»",
        "def f(self, p):\n    self.best = «p.data».cpu()",
        "def f(kept, p):\n    kept['w'] = «p.data»",
        "def f(net):\n    best = [«p.data» for p in net.parameters()]\n    return best",
        "def f(net):\n    best = tuple(«each.bias.data» for each in net) + (net.last.data,)",
        "def f(net):\n    best = {name: «p.data» for name, p in net.named_parameters()}",
        "def f(kept, p):\n    kept += [«p.data»]",
        "def f(kept, p):\n    kept.append(«p.data»)",
        "def f(kept, p):\n    write(«p.data», to=kept)",
        "def f(p):\n    write(tensor=«p.data»)",
        "def f():\n    x = torch.ones(3, requires_grad=True)\n    store(«x.data» + 1)",
        "class Net(nn.Module):\n    def forward(self, x):\n        return x * «self.scale.data»",
    ],
)
def test_it_is_kept(snippet: str) -> None:
    assert asked(snippet)[0]


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(p):\n    return «p.data».norm()",
        "def f(p):\n    return torch.norm(«p.data»)",
        "def f(p, q):\n    return q - «p.data»",
        "def f(net, q):\n    p = net.weight\n    return q - «p.data»",
        "def f(q, far):\n    p = torch.ones(3) if far else q\n    p = q\n    return q - «p.data»",
        "def f(p):\n    flat = «p.data».flatten()\n    return max(w.item() for w in flat)",
        "def f(net):\n    return torch.cat([«p.data».view(-1) for p in net.parameters()])",
        "def f(net):\n    return torch.cat([«p.data» for p in net.parameters()])",
        "def f(p, path):\n    torch.save(«p.data», path)",
        "def f(p, q):\n    q.copy_(«p.data»)",
        "def f(p, q):\n    return q.add(«p.data», alpha=0.1)",
        "def f(p):\n    return len(«p.data»), print(p)",
        "def f(p):\n    w = «p.data»\n    return w.norm()",
        "def f(p):\n    for row in «p.data»:\n        print(row)",
        "def f(p):\n    return f'{«p.data»}'",
    ],
)
def test_it_is_only_read(snippet: str) -> None:
    assert asked(snippet) == (False, False)


POOL = "class Pool:\n    def query(self, images):\n        for image in images:\n            "


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("image = torch.unsqueeze(«image.data», 0)\n            self.images.append(image)", True),
        ("image = «image.data».view(1, -1)\n            self.images[3] = image", True),
        ("for each in «image.data»:\n                self.images.append(each.unsqueeze(0))", True),
        ("self.images.append(«image.data»)", True),
        ("self.images.append(«image.data».norm())", False),
        ("image = torch.unsqueeze(«image.data», 0)\n            images.append(image)", False),
        ("image = torch.norm(«image.data»)\n            self.images.append(image)", False),
        ("kept = «image.data»\n            kept = make()\n            self.images.append(kept)", False),
        ("kept = «image.data»\n            self.images.append(image)", False),
    ],
)
def test_pools(snippet: str, expected: bool) -> None:
    assert asked(POOL + snippet)[1] is expected


def test_names_are_followed_to_a_bound() -> None:
    steps = "".join(f"    a{i + 1} = a{i}.view(3)\n" for i in range(2000))
    assert asked(f"class Pool:\n  def f(self, x):\n    a0 = «x.data»\n{steps}    self.kept.append(a2000)") == (False, False)
