"""Which values have a graph by what the file shows: of each snippet, whether the marked value is one."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.gradients.evident_graphs import EvidentGraphs

START = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def shows(snippet: str) -> bool:
    semantics, [node] = marked(START + snippet)
    return semantics.of(EvidentGraphs).shows(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x):\n    return nn.Linear(3, 2)(x)\ny = f(z)\n«nn.Linear(3, 2)(y)»",
        "def f(logits):\n    return «logits»",
        "def f(batch):\n    return «batch['scores']»",
        "def f(batch):\n    return «batch.outputs[0]»",
        "def f(self):\n    return «self.criterion.loss.cpu()»",
        "def f(a, d_loss_real):\n    return «(a + d_loss_real).mean()»",
        "def f(log_prob):\n    return «torch.exp(log_prob)»",
        "def f(probs):\n    return «torch.cat([_.unsqueeze(1) for _ in probs], 1)»",
        "def f(net, x):\n    return «net(x)»",
        "def f(self, x):\n    out = self.netG(x)\n    shown = torch.tanh(out)\n    return «shown»",
        "def f(self, x):\n    y = self.policy(x)[0]\n    return «y»",
        "def f(self):\n    for each in self.predictions:\n        print(«each»)",
        "def f(self):\n    for i, each in enumerate(self.predictions):\n        print(«each»)",
        "def f(self, x):\n    code, other = self.encoder(x)\n    return «code»",
        "def f(x, far):\n    y = x if far else model(x)\n    return «y»",
        "def repackage(h):\n    return «h»",
        "def detach_states(states):\n    return [«each» for each in states]",
    ],
)
def test_it_shows(snippet: str) -> None:
    assert shows(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x):\n    return «x»",
        "def f(x):\n    return «torch.exp(x)»",
        "def f(x):\n    y = x.unsqueeze(0)\n    return «y»",
        "def f(build, x):\n    return «build(x)»",
        "def f(outputs):\n    x = len(outputs)\n    return «x»",
        "def f(outputs, x):\n    x = x > outputs.threshold\n    return «x»",
        "def f(logits, x):\n    logits = x\n    return «x»",  # another name of it, behind
        "def f(out_of, shoutout, x):\n    return «x[0]»",
        "def f(throughput):\n    return «throughput[0].speed»",
        "def f(x):\n    for each in zip(x, x):\n        print(«each»)",
        "def f(x):\n    x = g(x)\n    x = h(x)\n    return «x»",
        "def f(n):\n    while n:\n        a, b = b, a\n    return «a»",
        "def f(scores, n):\n    top, at = torch.max(scores, 1)\n    at = torch.gather(n, 1, at)\n    return «at»",
        "def f(scores, n):\n    top, at = scores.topk(1)\n    return «at.view(-1)»",
        "def f(n, scores):\n    return «torch.gather(n, 1, scores)»",
        "def f(package):\n    return «package»",
    ],
)
def test_nothing_shows_it(snippet: str) -> None:
    assert not shows(snippet)


def test_names_are_followed_to_a_bound() -> None:
    steps = "".join(f"    a{i + 1} = a{i} * 2\n" for i in range(2000))
    assert not shows(f"def f(a0):\n{steps}    return «a2000»")
