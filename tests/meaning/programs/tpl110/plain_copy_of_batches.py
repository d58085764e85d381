# attacks: TPL110
# promise: the copies are made without waiting
# shows: no Python of today parses the file
# stays safe: yes
import torch

batch = torch.arange(6.0).view(2, 3)
target = torch.empty(2, 3)
target.copy_(batch, async=True)
print(target.sum().item())
