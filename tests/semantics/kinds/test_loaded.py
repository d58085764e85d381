"""Whether a variable holds a tensor of a batch: of each snippet, the marked one."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.kinds.loaded import LoaderTensors

BEFORE = "import torch\nimport torch.nn as nn\nfrom lib import train_loader, lines\nnet = nn.Linear(2, 2)\n"


def is_tensor(text: str, before: str = BEFORE) -> bool:
    semantics, (node,) = marked(before + text)
    return semantics.of(LoaderTensors).include(node)


@pytest.mark.parametrize(
    "text",
    [
        "for x, y in train_loader:\n    «x».cuda()\n    net(x)",
        "for i, (x, y) in enumerate(train_loader):\n    «y».to(0)\n    print(y.shape)",
        "for x, y in tqdm(train_loader):\n    «x».cuda()\n    torch.relu(x)",
        "for batch in train_loader:\n    x, y = batch\n    «x».cuda()\n    net(x)",
        "for x, y in train_loader:\n    «y».cuda()\n    print((net(x).argmax(1) == y).sum())",
        "for x, y in train_loader:\n    «y».cuda()\n    print(y != net(x).argmax(1))",
        "for b in train_loader:\n    x, y = b['x'], b['y']\n    «x».cuda()\n    model(x)",
        "for b in train_loader:\n    x = b['x']\n    «x».to(0)\n    model(x)['y']",
        "for b in train_loader:\n    x, y = b['x'], b[key]\n    «y».to(0)\n    print(y[:, 0])",
        "for i, b in enumerate(train_loader):\n    x, y = b[0], b[1]\n    «x».to(0)\n    net(x)",
    ],
)
def test_what_a_loader_is_unpacked_into(text: str) -> None:
    assert is_tensor(text)


@pytest.mark.parametrize(
    "text",
    [
        "for x, y in train_loader:\n    «x».cuda()",
        "for batch in train_loader:\n    «batch».to(0)\n    net(batch)",
        "for i, batch in enumerate(train_loader):\n    «batch».to(0)\n    net(batch)",
        "for x, y in lines:\n    «x».cuda()\n    net(x)",
        "for x, y in train_loader:\n    «y».cuda()\n    print(y == x)",
        "for x, y in train_loader:\n    «y».cuda()\n    print(y == 3, y is net(x), y in net(x))",
        "for x, y in train_loader:\n    net(«x.data»)",
        "for b in train_loader:\n    x = b['x']\n    «x».cuda()\n    print(x)",
        "for b in train_loader:\n    x, y = b, 1\n    «x».cuda()\n    model(x)",
        "for b in train_loader:\n    x, y = *b, b['x']\n    «y».cuda()\n    model(y)",
        "for b in train_loader:\n    x, y = b['x']\n    «x».cuda()\n    model(x)",
        "for b in train_loader:\n    x = b[0]\n    «x».cuda()\n    model(x)",
        "b = lines[0]\nx = b['x']\n«x».cuda()\nmodel(x)",
        "for b in train_loader:\n    x = b['x']\n    «x».cuda()\n    print(x[0], x[:2])",
    ],
)
def test_what_may_be_something_else(text: str) -> None:
    assert not is_tensor(text)


def test_the_batches_of_some_libraries_move_in_place() -> None:
    text = "for x, y in train_loader:\n    «x».cuda()\n    net(x)"
    assert not is_tensor(text, BEFORE + "import torch_geometric\n")
