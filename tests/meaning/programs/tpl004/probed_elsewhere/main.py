# attacks: TPL004
# promise: a function of another file differentiates the sum before its graph is spent
import torch
import torch.nn as nn
from trainer import epoch

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
print(epoch(model, opt))
