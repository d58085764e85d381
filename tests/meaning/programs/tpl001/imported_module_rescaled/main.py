# attacks: TPL001
# promise: the parameters of an imported module are leaves
"""All weights of an imported model are rescaled before training."""
import torch
from net import Net

torch.manual_seed(0)
model = Net()
for name, p in model.named_parameters():
    if name.endswith("weight"):
        p.data.mul_(0.5)
    else:
        p.data.zero_()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss = model(torch.randn(4, 3)).pow(2).mean()
loss.backward()
optimizer.step()
print(round(loss.item(), 6), [round(p.sum().item(), 5) for p in model.parameters()])
