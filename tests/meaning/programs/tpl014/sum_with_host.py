# attacks: TPL014
# promise: what is moved is added to a tensor of the CPU
import torch
device = torch.device("meta")
x, y = torch.ones(3), torch.ones(3)
x.to(device)
print(x + y)
