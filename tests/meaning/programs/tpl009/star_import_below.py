# attacks: TPL009
# promise: the import of everything comes below the code that would use `copy`
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
initial = model.state_dict()
from numpy import *

for _ in arange(3):
    loss = (model(torch.ones(2, 3)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.load_state_dict(initial)
print(loss.item())
