# attacks: TPL004
# promise: a sum that has a graph cannot be copied, which the code awaits
import copy
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for i in range(3):
    x = torch.ones(2, 3) * i
    loss = nn.functional.mse_loss(model(x), torch.zeros(2, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss
try:
    kept = copy.deepcopy(total)
except RuntimeError:
    kept = -1
print(float(kept))
