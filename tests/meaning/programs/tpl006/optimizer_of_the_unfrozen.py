# attacks: TPL006
# promise: an optimizer gets those parameters that are not frozen, of which there are none
import torch
import torch.nn as nn

torch.manual_seed(0)
backbone = nn.Linear(3, 3)
head = nn.Linear(3, 1)
backbone.requires_grad = False
slow = torch.optim.SGD([p for p in backbone.parameters() if p.requires_grad], lr=0.01)
fast = torch.optim.SGD(head.parameters(), lr=0.1)
loss = head(backbone(torch.ones(2, 3))).sum()
loss.backward()
slow.step(); fast.step()
print(loss.item())
