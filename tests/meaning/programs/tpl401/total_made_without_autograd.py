# attacks: TPL401
# promise: the total is made without autograd, and added to with it
import torch
from torch import nn
torch.manual_seed(0)
w = nn.Parameter(torch.randn(2, 3).double())
with torch.no_grad():
    total = torch.zeros(6).view(2, 3).double()
total += w * 2
total.sum().backward()
print(w.grad.tolist())
