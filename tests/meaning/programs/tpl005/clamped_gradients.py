# attacks: TPL005
# promise: a loop clamps the gradients of all parameters
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
for p in model[0].parameters():
    p.requres_grad = False
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(2, 3)).sum()
loss.backward()
for p in model.parameters():
    p.grad.clamp_(-1, 1)
opt.step()
print(loss.item())
