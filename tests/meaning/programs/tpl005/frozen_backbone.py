# attacks: TPL005
# promise: the misspelt flag is set on plain parameters
# shows: the backbone was meant to be frozen and was trained
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(3, 8), nn.ReLU())
head = nn.Linear(8, 2)
for p in backbone.parameters():
    p.requires_gard = False
before = [p.clone() for p in backbone.parameters()]
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(16, 3), torch.randint(0, 2, (16,))
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(head(backbone(x)), y).backward()
    optimizer.step()
print([torch.equal(a, b) for a, b in zip(before, backbone.parameters())])
