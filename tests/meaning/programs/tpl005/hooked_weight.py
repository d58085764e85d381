# attacks: TPL005
# promise: a hook on the parameter makes its gradient zero
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
model[0].weight.requires_gard = False
model[0].weight.register_hook(lambda g: g * 0)
loss = model(torch.ones(2, 3)).sum()
loss.backward()
print(model[0].weight.grad)
