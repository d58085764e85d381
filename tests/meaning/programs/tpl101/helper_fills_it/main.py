# attacks: TPL101
# promise: no helper writes a graph into a tensor that was made without one
import torch
from filling import scatter_rows
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
encoder, head = nn.Linear(2, 3), nn.Linear(3, 1)
table = torch.zeros(4, 3)
scatter_rows(table, torch.tensor([0, 2]), encoder(torch.randn(2, 2)))
frozen = Variable(table)
head(frozen).pow(2).sum().backward()
print(encoder.weight.grad, f"{head.weight.grad.sum().item():.4f}")
