# attacks: TPL304
# promise: arrays that are detached anyway have the same values
# stays safe: yes
import numpy as np
import torch
from torch import nn


def reconstruct(model, loader):
    model.eval()
    parts = []
    for x in loader:
        parts.append(model(x).detach().cpu().numpy())
    return np.concatenate(parts)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2), nn.Linear(2, 4))
out = reconstruct(model, [torch.randn(3, 4) for _ in range(2)])
print(out.shape, out.dtype, np.round(out.sum(0), 3).tolist())
