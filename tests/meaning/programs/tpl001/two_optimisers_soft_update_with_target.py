# attacks: TPL001
# promise: a target network is read and written between no forward and its backward
# stays safe: yes
"""DDPG: soft updates of two targets after both losses were back-propagated."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(3, 1), nn.Linear(4, 1)
target_actor, target_critic = copy.deepcopy(actor), copy.deepcopy(critic)
optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.05)


def soft_update(target, source, tau):
    for t, s in zip(target.parameters(), source.parameters()):
        t.data.copy_(t.data * (1.0 - tau) + s.data * tau)


for _ in range(3):
    s = torch.randn(5, 3)
    with torch.no_grad():
        goal = target_critic(torch.cat([s, target_actor(s)], 1)) * 0.9
    loss = (critic(torch.cat([s, actor(s).detach()], 1)) - goal).pow(2).mean()
    loss = loss - critic(torch.cat([s, actor(s)], 1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    soft_update(target_actor, actor, 0.1)
    soft_update(target_critic, critic, 0.1)
print([round(p.sum().item(), 5) for p in (*target_actor.parameters(), *target_critic.parameters())])
