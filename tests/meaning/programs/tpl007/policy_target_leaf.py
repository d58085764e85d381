# attacks: TPL007
# promise: a leaf at which the backward pass ends may be what the author reads
import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(3, 2), nn.Linear(5, 1)
state = torch.randn(4, 3)
action = actor(state)
value = critic(torch.cat([state, action], dim=1)).detach().mean()
value.requires_grad = True
value.backward()
print(actor.weight.grad, critic.weight.grad, value.requires_grad, f"{value.item():.4f}")
