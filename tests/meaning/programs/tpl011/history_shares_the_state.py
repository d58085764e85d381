# attacks: TPL011
# promise: nobody else holds the tensor that is changed
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.Linear(3, 3)
for parameter in cell.parameters():
    parameter.requires_grad_(False)


def roll(x, learn):
    history = []
    for _ in range(3):
        h = torch.sigmoid(cell(x))
        history.append(h)
        h *= 0.5
        x = h
    loss = x.sum()
    if learn:
        loss.backward()
    return history, loss


history, loss = roll(torch.randn(2, 3), learn=False)
print([round(h.sum().item(), 5) for h in history], round(loss.item(), 5))
