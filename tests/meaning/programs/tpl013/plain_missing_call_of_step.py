# attacks: TPL013
# promise: the step is made
# shows: it is not
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
start = model.weight.detach().clone()
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.ones(4, 3)), torch.zeros(4, 1))
    loss.backward()
    optimizer.step
print(torch.equal(start, model.weight))
