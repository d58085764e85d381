# attacks: TPL004
# promise: a global sum is read in its own file alone
import steps
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    steps.take(model, optimizer, x)
steps.show()
print(f"{steps.running.sqrt().item():.4f}")
