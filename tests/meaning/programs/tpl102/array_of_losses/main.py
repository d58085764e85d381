# attacks: TPL102
# promise: what is no tensor has no `data` to index
import torch
from baseline import fit_numpy
from torch import nn

torch.manual_seed(0)
x = torch.randn(6, 2)
y = x.sum(dim=1)
numpy_loss = fit_numpy(x.numpy(), y.numpy())
model = nn.Linear(2, 1)
error = (model(x).squeeze(1) - y).pow(2).mean()
error.backward()
print(f"numpy {numpy_loss.data[0]:.6f} after {numpy_loss.size} fits, torch {error.item():.4f}")
