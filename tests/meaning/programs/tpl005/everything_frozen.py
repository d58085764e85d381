# attacks: TPL005
# promise: nothing is left to train, and the backward pass raises
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
for p in model.parameters():
    p.requires_grads = False
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(2, 3)).sum()
loss.backward()
opt.step()
print(loss.item())
