# attacks: TPL005
# promise: the weight of a pruned layer is the product with its mask
import torch
import torch.nn as nn
from torch.nn.utils import prune

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
prune.l1_unstructured(model[0], "weight", amount=0.5)
model[0].weight.require_grad = False
model[2].bias.require_grad = False
model(torch.ones(1, 4)).sum().backward()
print(model[0].weight_orig.grad is not None, int((model[0].weight == 0).sum()))
