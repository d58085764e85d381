# attacks: TPL001
# promise: a hook has kept the first output, which is back-propagated later
import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
squash = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
kept = []
squash.register_forward_hook(lambda module, args, out: kept.append(out))
print(round(squash(layer(torch.ones(1, 3))).item(), 4))
squash[2].weight.data.fill_(1.0)
sum(kept).backward()
print([round(v, 4) for v in layer.bias.grad.tolist()])
