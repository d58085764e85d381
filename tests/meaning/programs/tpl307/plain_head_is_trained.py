# attacks: TPL307
# promise: what is frozen is not changed either way
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
backbone, head = nn.Linear(3, 4), nn.Linear(4, 2)
model = nn.Sequential(backbone, nn.ReLU(), head)
for p in model[0].parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    loss = model(torch.randn(5, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(backbone.weight.sum().item(), 4), round(head.weight.sum().item(), 4))
