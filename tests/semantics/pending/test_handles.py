"""Which tensors can be changed as their ``.data`` can: none that is sparse or made for inference, where nobody watches."""

from __future__ import annotations

import ast

import pytest

from torchlint.fact import Fact
from torchlint.semantics import Semantics
from torchlint.semantics.pending.handles import Handles


def handles(code: str) -> Fact:
    """What is known of the tensor whose ``.data`` the last statement of ``code`` changes."""
    semantics = Semantics(ast.parse(f"import torch\nfrom torch import nn\n{code}"))
    [*_, data] = [each for each in semantics.tree.of_type(ast.Attribute) if each.attr == "data"]
    return semantics.of(Handles).fact(data.value, data)


@pytest.mark.parametrize(
    "code",
    [
        "w = torch.ones(3)\nw.data.mul_(2)",
        "table = nn.Embedding(4, 2, sparse=False)\ntable.weight.grad.data.mul_(2)",
        "table = nn.Embedding(4, 2, sparse=True)\ntable.weight.data.mul_(2)",
        "w = torch.ones(3)\nwith torch.inference_mode():\n    x = torch.ones(3)\nw.data.mul_(2)",
        "with torch.inference_mode():\n    w = torch.ones(3)\n    w.data.mul_(2)",
        "with torch.inference_mode(False):\n    w = torch.ones(3)\nw.data.mul_(2)",
        "def f(net, x):\n    with torch.inference_mode():\n        print(net(x).mean())\n    net.weight.data.mul_(2)",
    ],
)
def test_the_tensor_itself_will_do(code: str) -> None:
    assert handles(code).is_certain


@pytest.mark.parametrize(
    ("code", "doubt"),
    [
        ("table = nn.Embedding(4, 2, sparse=True)\ntable.weight.grad.data.mul_(2)", "may be sparse"),
        ("def f(sparse):\n    e = nn.Embedding(4, 2, sparse=sparse)\n    e.weight.grad.data.mul_(2)", "may be sparse"),
        ("s = torch.eye(2).to_sparse()\ns.data.mul_(2)", "may be sparse"),
        ("s = torch.sparse_coo_tensor([[0]], [1.0], (2,))\ns.data.mul_(2)", "may be sparse"),
        ("with torch.inference_mode():\n    w = torch.ones(3)\nw.data.mul_(2)", "made under `inference_mode`"),
        (
            "with torch.inference_mode():\n    w = torch.ones(3)\nwith torch.inference_mode(off):\n    w.data.mul_(2)",
            "made under",
        ),
        (
            "def build():\n    return nn.Linear(2, 2)\n\n\nwith torch.inference_mode():\n    parts = [build()]\n"
            "for part in parts:\n    part.weight.data.mul_(2)",
            "made under `inference_mode`",
        ),
        (
            "class Bank:\n    @torch.inference_mode()\n    def fill(self, net, x):\n        self.rows = net(x)\n\n"
            "    def scale(self):\n        self.rows.data.mul_(2)",
            "made under `inference_mode`",
        ),
        (
            "class Log:\n    def __torch_function__(self):\n        pass\n\n\nw = torch.ones(3)\nw.data.mul_(2)",
            "`__torch_function__`",
        ),
    ],
)
def test_the_tensor_is_another_matter(code: str, doubt: str) -> None:
    assert doubt in handles(code).doubt
