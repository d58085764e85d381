# attacks: TPL001
# promise: a buffer of a normalisation layer is not saved for the backward pass
"""Running statistics are restarted between the forward pass of an epoch's last batch and its backward."""
import torch
from torch import nn

torch.manual_seed(0)
norm = nn.BatchNorm1d(3)
head = nn.Linear(3, 1)
x = torch.randn(8, 3, requires_grad=True)
loss = head(norm(x)).pow(2).mean()
norm.running_mean.data.zero_()
norm.running_var.data.fill_(1)
loss.backward()
print("input", round(x.grad.abs().sum().item(), 5))
print("norm", [round(v, 5) for v in norm.weight.grad.tolist()], norm.running_mean.tolist())
