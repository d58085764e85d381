# attacks: TPL004
# promise: the callers of a function that the file shows are all that there are
import torch
from epochs import report, train_epoch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(3)]
report(model, batches, optimizer)
mean = train_epoch(model, batches, optimizer)
print(f"as a tensor: {mean.sqrt().item():.4f}, {mean.dtype}")
