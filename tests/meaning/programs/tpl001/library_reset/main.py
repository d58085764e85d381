# attacks: TPL001
# promise: a library resets the weights of a model whose loss still waits
import torch
from model import Critic

torch.manual_seed(0)
critic = Critic(3)
loss = critic(torch.ones(2, 3)).mean()
for round_ in range(2):
    fresh = Critic(3)
critic.__init__(3)
loss.backward()
print(sorted(name for name, p in critic.named_parameters() if p.grad is None))
other = Critic(3)
waiting = other(torch.ones(1, 3)).sum()
other.clip(0.05)
waiting.backward()
print([round(v, 4) for v in other.body.bias.grad.tolist()])
