"""Evaluations of which little is kept, or perhaps nothing: one sample in a round, wrapped frozen models (TPL304)."""

from __future__ import annotations

from torchlint.api import lint

NET = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return self.fc(x)
"""
ROUNDS = (
    NET
    + """
def run(loader, val_loader, epochs, picture, show):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(epochs):
        net.train()
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        net.eval()
        total = 0
        {}
"""
)
ALL = "for x, y in val_loader:\n            total += (net(x).argmax(1) == y).sum().item()"
FROZEN = (
    NET
    + """
base = Net()
for p in base.parameters():
    # frozen
    pass
net = nn.Sequential(base)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.eval()
for x, y in loader:
    print((net(x).argmax(1) == y).sum().item())
"""
)


def codes(text: str) -> list[str]:
    return [each.code for each in lint(text) if each.code == "TPL304"]


def test_one_sample_in_a_round_is_strict() -> None:
    assert codes(ROUNDS.format(ALL)) == ["TPL304"]
    assert codes(ROUNDS.format("show(net(picture.unsqueeze(0)).detach())")) == []


def test_what_wraps_a_frozen_model_is_strict() -> None:
    assert codes(FROZEN) == ["TPL304"]
    assert codes(FROZEN.replace("# frozen", "p.requires_grad = False")) == []
