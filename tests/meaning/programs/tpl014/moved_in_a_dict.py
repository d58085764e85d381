# attacks: TPL014
# promise: tensors in a dict of the function are moved
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cpu")
batch = {"x": torch.randn(4, 3), "y": torch.randn(4, 1)}
batch["x"].to(device)
batch["y"].to(device)
model = nn.Linear(3, 1)
loss = nn.functional.mse_loss(model(batch["x"]), batch["y"])
loss.backward()
print(round(loss.item(), 5), round(model.weight.grad.sum().item(), 5))
