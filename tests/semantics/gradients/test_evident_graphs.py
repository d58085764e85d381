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
        "def f(run, x):\n    logits = run(x)\n    return «logits»",
        "def f(run, x):\n    batch = run(x)\n    return «batch['scores']»",
        "def f(run, x):\n    batch = run(x)\n    return «batch.outputs[0]»",
        "def f(self, x):\n    a, d_loss_real = self.step(x)\n    return «(x + d_loss_real).mean()»",
        "def f(run, x):\n    log_prob = run(x)['first']\n    return «torch.exp(log_prob)»",
        "def f(run, x):\n    probs = run(x)\n    return «torch.cat([_.unsqueeze(1) for _ in probs], 1)»",
        "def f(net, xs):\n    kept = []\n    for x in xs:\n        kept.append(net(x))\n    return «torch.cat(kept)»",
        "def f(net, xs):\n    kept = []\n    for x in xs:\n        kept += [net(x)]\n    return «torch.cat(kept)»",
        "def f(net, xs):\n    kept, other = [], []\n    for x in xs:\n        kept.append(net(x)[0])\n    return «kept[-1]»",
        "def f(self, x):\n    predictions = self.step(x)\n    for each in predictions:\n        print(«each»)",
        "def f(self, x):\n    predictions = self.step(x)\n    for i, each in enumerate(predictions):\n        print(«each»)",
        "class A:\n    def infer(self, x):\n        out = self.net(x)\n        out.sum().backward()\n        return «out»",
        "def infer(net, x):\n    return «net(x)»",
        "def f(loss):\n    loss.backward()\n    return «loss»",
        "def f(xs):\n    v_loss = 0.0\n    for x in xs:\n        v_loss += x ** 2\n    (v_loss + 1).backward()\n    «v_loss»",
        "class A:\n    def step(self):\n        self.loss.mean().backward()\n    def show(self):\n        return «self.loss»",
        "class A:\n    def infer(self):\n        return «nn.Linear(3, 2).weight»",
        "def sampled_steps(net, x):\n    return «net(x)»",
        "def f(net, x):\n    return «net(x)»",
        "def f(model, x, y):\n    loss, _, acc = model(x, y)\n    return «loss»",
        "def f(self, x):\n    out = self.netG(x)\n    shown = torch.tanh(out)\n    return «shown»",
        "def f(self, x):\n    y = self.policy(x)[0]\n    return «y»",
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
        "def f(model, x, y):\n    loss, _, acc = model(x, y)\n    return «acc»",
        "def f(model, x, y):\n    loss, num_correct = model(x, y)\n    return «num_correct»",
        "def f(logits):\n    return «logits»",  # its callers know
        "def f(y_pred):\n    mel_outputs, gates = y_pred\n    return «torch.sigmoid(gates[0])»",
        "def f(outputs):\n    scores = outputs['scores']\n    return «scores»",
        "def f(outputs):\n    scores = outputs.chunk(2)[0]\n    return «scores»",
        "def f(self):\n    return «self.criterion.loss.cpu()»",
        "def f(loss, weight):\n    (loss * weight).backward()\n    return «weight»",
        "def f(loss, x):\n    x.backward()\n    return «loss»",
        "def f(self):\n    for each in self.predictions:\n        print(«each»)",
        "def f(self, i):\n    kept, other = self.kept, [model(i)]\n    return «kept[i]»",
        "def f(x):\n    out = np.exp(x)\n    return «out»",
        "def f(x):\n    out = sorted(x)\n    return «out[0]»",
        "def f(net, x):\n    kept = []\n    kept.append(x)\n    return «kept[0]»",
        "class A:\n    def infer(self, net, x):\n        return «net(x)»",
        "class A:\n    def beam_search(self, x):\n        scores = self.net(x)\n        return «scores»",
        "class A:\n    def _sample(self, x):\n        logprobs = self.step(x)\n        return «logprobs»",
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
