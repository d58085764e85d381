# attacks: TPL102
# promise: an attribute called a loss has one element
import torch
from results import run
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
out = run(model, torch.randn(4, 3), torch.tensor([0, 1, 0, 1]))
out.total.backward()
print(f"{out.loss.data[0]:.4f} {out.loss.data[1]:.4f}", f"{out.total.item():.4f}")
