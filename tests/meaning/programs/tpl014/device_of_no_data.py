# attacks: TPL014
# promise: what is moved would be left without its values
import torch

torch.manual_seed(0)
planning = torch.device("meta")
batch = torch.ones(2, 3)
shape_only = batch.to(planning).sum(0)
batch.to(planning)
print(shape_only.shape, batch.sum().item())
mask = torch.zeros(3)
mask.to("meta")
print((mask + 1).tolist())
