# attacks: TPL005
# promise: gradients are asked for with respect to what was to be frozen
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
for p in model[0].parameters():
    p.requires_grad == False
loss = model(torch.ones(2, 3)).sum()
grads = torch.autograd.grad(loss, list(model.parameters()))
print(len(grads))
