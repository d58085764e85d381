# attacks: TPL001
# promise: a dataclass keeps the loss of a step, and the weights are renormalised
from dataclasses import dataclass, field

import torch
import torch.nn as nn

torch.manual_seed(0)


@dataclass
class Step:
    rewards: list = field(default_factory=list)
    log_probs: list = field(default_factory=list)

    def add(self, log_prob, reward):
        self.log_probs.append(log_prob)
        self.rewards.append(reward)


policy = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
step = Step()
for state in torch.randn(3, 2):
    step.add(torch.log_softmax(policy(state), dim=0)[0], state.sum().item())
policy[2].weight.data.div_(2.0)
loss = -sum(p * r for p, r in zip(step.log_probs, step.rewards))
loss.backward()
print([round(v, 4) for v in policy[0].bias.grad.tolist()])
