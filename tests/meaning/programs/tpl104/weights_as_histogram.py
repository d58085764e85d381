# attacks: TPL104
# promise: a parameter can be detached
# stays safe: yes
"""Histograms of the weights of a model."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
for name, p in model.named_parameters():
    counts, edges = np.histogram(p.data.numpy(), bins=4)
    print(name, counts.tolist(), edges.round(3).tolist())
