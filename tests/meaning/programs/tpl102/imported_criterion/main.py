# attacks: TPL102
# promise: a criterion gives one number
import torch
from criteria import make_criterion
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = make_criterion("triplet")
x, y = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
print(f"before {criterion(model(x), y).data[0]:.4f}")
criterion(model(x), y).sum().backward()
with torch.no_grad():
    for parameter in model.parameters():
        parameter -= 0.1 * parameter.grad
print(f"after {criterion(model(x), y).data[0]:.4f}")
