# attacks: TPL006
# promise: gradients are asked for with respect to the module's parameters
import torch
import torch.nn as nn

torch.manual_seed(0)
backbone = nn.Linear(3, 3)
head = nn.Linear(3, 1)
backbone.requires_grad = False
loss = head(backbone(torch.ones(2, 3))).sum()
loss.backward(retain_graph=True)
print(len(torch.autograd.grad(loss, [*backbone.parameters(), *head.parameters()])))
