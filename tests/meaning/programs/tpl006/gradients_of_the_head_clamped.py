# attacks: TPL006
# promise: only the gradients of what is trained are asked for
# shows: the backbone was meant to be frozen and was trained
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
head = nn.Linear(4, 1)
backbone.requires_grad = False
model = nn.Sequential(backbone, head)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
before = backbone[0].weight.clone()
for x in torch.randn(3, 8, 3):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    for p in head.parameters():
        p.grad.clamp_(-1, 1)
    optimizer.step()
print(torch.equal(before, backbone[0].weight))
