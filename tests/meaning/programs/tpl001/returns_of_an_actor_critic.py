# attacks: TPL001
# promise: a tensor of zeros that is filled backwards in a loop has no graph
"""Bootstrapped returns are written in reverse and standardised; the critic learns through them."""
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Linear(3, 1)
states, rewards = torch.randn(5, 3), torch.rand(5)
values = critic(states).squeeze(1)
returns = torch.zeros(6)
for t in reversed(range(5)):
    returns[t] += rewards[t] + 0.9 * (0.5 * returns[t + 1].clone() + 0.5 * values[t])
mean, deviation = returns.mean().item(), returns.std().item()
returns.data.sub_(mean).div_(deviation)
loss = returns.sum()
loss.backward()
print(round(deviation, 5), [round(v, 5) for v in returns.tolist()])
print([round(v, 5) for v in critic.weight.grad.flatten().tolist()])
