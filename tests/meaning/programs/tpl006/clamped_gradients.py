# attacks: TPL006
# promise: a loop clamps the gradients of all parameters
import torch
import torch.nn as nn

torch.manual_seed(0)
backbone = nn.Linear(3, 3)
head = nn.Linear(3, 1)
backbone.requires_grad = False
model = nn.Sequential(backbone, head)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(2, 3)).sum()
loss.backward()
for p in model.parameters():
    p.grad.clamp_(-1, 1)
opt.step()
print(loss.item())
