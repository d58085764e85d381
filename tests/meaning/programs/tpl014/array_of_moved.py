# attacks: TPL014
# promise: an array is made of what is moved
import torch
device = torch.device("meta")
x = torch.ones(3)
x.to(device)
print(x.numpy().sum())
