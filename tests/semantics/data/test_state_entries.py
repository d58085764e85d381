"""Which tensors are entries of state dicts, which have no graph."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.data.state_entries import StateEntries


def is_entry(snippet: str) -> bool:
    semantics, [node] = marked("import copy\nimport torch\n" + snippet)
    return semantics.of(StateEntries).is_entry(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "«net.state_dict()['fc.weight']»",
        "sd = net.state_dict()\nfor k in sd:\n    «sd[k]»",
        "sd = copy.deepcopy(net.state_dict())\nfor name in sd.keys():\n    «sd[name][0]»",
        "for k, v in net.state_dict().items():\n    «v»",
        "def f(w_server, w_clients):\n    for name in w_server.keys():\n        «w_clients[0][name]»",
        "def f(weights, layer):\n    name = 'conv{}.weight'.format(layer)\n    «weights[name][:, 0].cpu()»",
        "def f(state_dict):\n    for k, v in state_dict.items():\n        «v»",
        "def f(model):\n    for k, v in model.items():\n        «v»",
        "saved = torch.load(path)['state_dict']\nfor k in own:\n    «saved[k]»",
        "saved = torch.load(path)\nfor k in own:\n    value = saved[k]\n    «value»",
    ],
)
def test_entries(snippet: str) -> None:
    assert is_entry(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "sd = net.state_dict(keep_vars=True)\nfor k in sd:\n    «sd[k]»",
        "params = dict(net.named_parameters())\nfor k in params:\n    «params[k]»",
        "for k, v in net.named_parameters():\n    «v»",
        "def f(losses):\n    for k in losses:\n        «losses[k]»",
        "def f(weights):\n    for k, v in weights.items():\n        «v»",
        "def f(model):\n    for k, v in model.named_parameters():\n        «v»",
        "def f(weights):\n    for k in range(3):\n        «weights[k]»",
        "def f(state):\n    return «state['logits']»",
        "def f(items):\n    for each in items:\n        x = x[0]\n        «x»",
        "params = dict(net.named_parameters())\nfor k in params:\n    value = params[k]\n    «value»",
        "saved = torch.load(path)\nfor k in own:\n    value = saved[k]\n    if k in new:\n        value = new(k)\n    «value»",
        "sd = net.state_dict()\nif functional:\n    sd = dict(net.named_parameters())\nfor k in sd:\n    «sd[k]»",
    ],
)
def test_what_may_have_a_graph(snippet: str) -> None:
    assert not is_entry(snippet)
