# attacks: TPL006
# promise: a hook on the weight shows its gradient
import torch
import torch.nn as nn

torch.manual_seed(0)
backbone = nn.Linear(3, 3)
head = nn.Linear(3, 1)
backbone.requires_grad = False
backbone.weight.register_hook(lambda g: print("grad", g.shape))
loss = head(backbone(torch.ones(2, 3))).sum()
loss.backward()
