# attacks: TPL001
# promise: a method with an underscore is called where the file shows it
"""A trainer bounds the weights of its model by a method of it, before the backward pass."""
import torch
from torch import nn

torch.manual_seed(0)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.out = nn.Linear(4, 1)
        self._bound()

    def _bound(self):
        self.out.weight.data.clamp_(-9, 9)
        self.fc.weight.data.clamp_(-9, 9)

    def forward(self, x):
        return self.out(torch.tanh(self.fc(x)))


class Trainer:
    def __init__(self, critic):
        self.critic = critic

    def step(self, x):
        loss = self.critic(x).mean()
        self.critic._bound()
        loss.backward()
        return loss.item()


trainer = Trainer(Critic())
print(round(trainer.step(torch.randn(5, 3)), 5))
print([round(p.grad.abs().sum().item(), 5) for p in trainer.critic.parameters()])
