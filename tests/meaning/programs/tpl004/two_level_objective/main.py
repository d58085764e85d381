# attacks: TPL004
# promise: a sum that is added to another sum is only reported
import torch
import torch.nn.functional as F
from stepping import descend
from torch import nn

torch.manual_seed(0)
warm = nn.Linear(2, 2)
F.mse_loss(warm(torch.ones(1, 2)), torch.zeros(1, 2)).backward()

cell = nn.Linear(2, 2)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for epoch in range(3):
    objective = 0
    for sequence in torch.randn(4, 5, 2):
        total = 0
        for step in range(4):
            total += F.mse_loss(cell(sequence[step]), sequence[step + 1])
        objective += total
    descend(objective, optimizer, cell)
print([f"{value:.4f}" for value in cell.weight.flatten().tolist()])
