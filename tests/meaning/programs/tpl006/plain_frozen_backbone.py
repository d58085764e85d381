# attacks: TPL006
# promise: the backbone is frozen
# shows: it is not
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
head = nn.Linear(4, 1)
backbone.requires_grad = False
loss = head(backbone(torch.ones(2, 3))).mean()
loss.backward()
print(backbone[0].weight.grad is None, head.weight.grad is None)
