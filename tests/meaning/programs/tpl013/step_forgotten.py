# attacks: TPL013
# promise: a training loop names its methods
# shows: the weights never moved
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
start = model.weight.clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 3), torch.randn(6, 1)
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step
print(torch.equal(start, model.weight))
