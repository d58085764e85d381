# attacks: TPL009
# promise: `from numpy import *` gives `copy` another meaning, unless the module is imported below it
# stays safe: yes
from numpy import *
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rounds = arange(3)
initial = model.state_dict()
for _ in rounds:
    loss = (model(torch.ones(2, 3)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.load_state_dict(initial)
print(len(rounds), loss.item())
