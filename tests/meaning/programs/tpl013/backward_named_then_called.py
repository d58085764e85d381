# attacks: TPL013
# promise: a loss whose backward is named is not back-propagated elsewhere
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
loss = model(torch.randn(5, 2)).pow(2).mean()
loss.backward
gradients = torch.autograd.grad(loss, list(model.parameters()))
print([[round(v, 5) for v in g.flatten().tolist()] for g in gradients], model.weight.grad)
