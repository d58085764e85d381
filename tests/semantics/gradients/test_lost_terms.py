"""Terms of a loss that left their graph behind: of each snippet, the marked calls, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.gradients.lost_terms import LostTerms

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
def train(net: nn.Module, x, y, w):
  out = net(x)
  ce, reg = F.cross_entropy(out, y), out.square().mean()
"""


def lost(body: str) -> list[str]:
    semantics, nodes = marked(HEAD + "".join(f"  {line}\n" for line in body.split("\n")))
    found = semantics.of(LostTerms).found
    assert sorted(found, key=lambda call: (call.lineno, call.col_offset)) == nodes
    return [ast.unparse(found[node].value) for node in nodes if isinstance(node, ast.Call)]


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("loss = ce + «reg.item()»\nloss.backward()", ["reg"]),
        ("loss = ce + w * «reg.detach()»\nloss.backward()", ["reg"]),
        ("loss = 0.5 * «float(reg)» + ce\nloss.backward()", ["reg"]),
        ("loss = ce\nloss += «reg.item()»\nloss.backward()", ["reg"]),
        ("loss = ce + «out.mean().item()» + «reg.item()»\nloss.backward()", ["out.mean()", "reg"]),
        ("extra = ce + «reg.item()»\nloss = extra * w\nloss.backward()", ["reg"]),
    ],
)
def test_what_is_lost(body: str, values: list[str]) -> None:
    assert lost(body) == values


@pytest.mark.parametrize(
    "body",
    [
        "loss = ce + reg\nloss.backward()",
        "loss = ce + reg.item()",
        "loss = ce + reg\nloss.backward()\ntotal = loss.item() + reg.item()",
        "loss = ce * reg.item()\nloss.backward()",
        "loss = ce + reg.item() * out.sum()\nloss.backward()",
        "loss = ce / ce.detach() + reg\nloss.backward()",
        "loss = reg + ce - ce.detach()\nloss.backward()",
        "loss = ce + (ce * w - 1) + ce.detach()\nloss.backward()",
        "loss = ce + out.detach()\nloss.sum().backward()",
        "loss = ce + y.float().mean().item()\nloss.backward()",
        "k = w + reg.item()\nloss = ce - k * out.sum()\nloss.backward()",
        "reg.backward(retain_graph=True)\nloss = ce + reg.item()\nloss.backward()",
        "loss = ce + float(w)\nloss.backward()",
    ],
)
def test_what_is_not(body: str) -> None:
    assert lost(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "a_loss = w.adversarial_loss(out)\nloss = «a_loss.detach()» + ce\nloss.backward()",
        "a_loss = w.criterion(out)\nprint(a_loss.item())\nloss = ce + 0.1 * «a_loss.detach()»\nloss.backward()",
        "a_loss = w.measure(out)\nloss = a_loss.detach() + ce\nloss.backward()",
        "a_loss = w.adversarial_loss(out)\na_loss.backward(retain_graph=True)\nloss = a_loss.detach() + ce\nloss.backward()",
        "with torch.no_grad():\n    a_loss = w.adversarial_loss(out)\nloss = a_loss.detach() + ce\nloss.backward()",
    ],
)
def test_what_is_called_a_loss(body: str) -> None:
    lost(body)


POLICY = """\
import torch
from torch.distributions import Categorical
class Agent:
  def learn(self, states, actions, advantages, old):
    dist = Categorical(logits=self.actor(states))
    ratio = torch.exp(dist.log_prob(actions) - old)
    policy = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
    {body}
    self.optimizer.zero_grad()
    loss.backward()
    self.optimizer.step()
"""


@pytest.mark.parametrize(
    "body",
    [
        "loss = torch.mean(policy - 0.01 * «dist.entropy().detach()»)",
        "entropy = «dist.entropy().detach()».sum(0)\n    loss = torch.mean(policy - 1e-2 * entropy)",
        "loss = policy.mean() - self.entropy_coef * «dist.entropy().mean().item()»",
        "entropy = dist.entropy().mean()\n    loss = policy.mean() - self.beta * «entropy.detach()»",
        "loss = -(policy.mean().neg() + 0.01 * «dist.entropy().detach()».mean())",
        "loss = policy.mean() - 0.01 * dist.entropy().mean()\n    log(dist.entropy().mean().item())",
        "loss = policy.mean() * dist.entropy().detach().mean()",
        "loss = (self.log_alpha * (dist.entropy().detach() - self.target)).mean() + policy.mean()",
        "loss = (policy - dist.entropy().detach() * self.temperature).mean()",
        "with torch.no_grad():\n      bonus = dist.entropy().detach()\n    loss = (policy - bonus).mean()",
        "loss = policy.mean() - 0.01 * self.measure(dist).detach()",
        "entropy = dist.entropy()\n    for _ in range(3):\n      entropy = entropy.mean()\n    loss = policy - entropy.item()",
    ],
)
def test_the_entropy_of_a_policy_is_to_be_trained(body: str) -> None:
    semantics, nodes = marked(POLICY.replace("{body}", body))
    found = semantics.of(LostTerms).found
    assert sorted(found, key=lambda call: (call.lineno, call.col_offset)) == nodes
