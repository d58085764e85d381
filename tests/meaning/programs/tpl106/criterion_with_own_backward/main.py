# attacks: TPL106
# promise: `backward` of something unknown is a tensor's
import torch
from torch import nn

from criteria import Criterion

torch.manual_seed(0)
model = nn.Linear(3, 1)
criterion = Criterion(model)
for step in range(2):
    criterion.forward(torch.randn(4, 3), torch.randn(4, 1))
    criterion.backward(retain_variables=True)
    criterion.backward(retain_variables=False)
print(round(model.weight.grad.sum().item(), 5), criterion.kept)
