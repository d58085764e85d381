# attacks: TPL102
# promise: a loss that is taken to NumPy has one element
import torch
from sweep import sweep_scales
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
data = torch.randn(8, 3)
loss_curve = sweep_scales(model, data, [0.0, 0.5, 2.0])
start = loss_curve.cpu().numpy()[0]
print(f"flat {start:.4f}, best {min(loss_curve.tolist()):.4f}")
(model(data) - 1).pow(2).mean().backward()
print(f"{model.weight.grad.norm().item():.4f}")
