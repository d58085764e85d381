# attacks: TPL004
# promise: a sum that has a graph makes no array, which a helper awaits
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def run():
    total = 0
    for i in range(3):
        x = torch.ones(2, 3) * i
        loss = nn.functional.mse_loss(model(x), torch.zeros(2, 1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss
    return total
def to_number(t):
    try:
        return np.asarray(t)
    except RuntimeError:
        return np.asarray(t.detach()) * 100
print(to_number(run()))
