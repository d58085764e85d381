# attacks: TPL005
# promise: the names of a loop are weights, but not all of them are parameters
# shows: the parameters that are to be frozen require grad
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
scaled = model[0].weight * 0.5
for tensor in (model[2].weight, model[2].bias):
    tensor.require_grad = False
scaled.require_grad = False
loss = (torch.ones(1, 2) @ scaled).sum() + model(torch.ones(1, 2)).sum()
loss.backward()
print(model[2].weight.requires_grad, scaled.requires_grad, model[0].weight.grad is not None)
