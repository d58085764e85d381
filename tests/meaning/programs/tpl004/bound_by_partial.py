# attacks: TPL004
# promise: a function that is bound to the list reads it as values
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
from functools import partial

losses = []


def take(values, optimizer):
    optimizer.zero_grad()
    sum(values).backward()
    optimizer.step()


flush = partial(take, losses, optimizer)
for step, x in enumerate(torch.randn(4, 4, 3)):
    loss = F.mse_loss(model(x), x[:, :1])
    if step < 2:
        loss.backward()
    else:
        losses.append(loss)
flush()

print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
