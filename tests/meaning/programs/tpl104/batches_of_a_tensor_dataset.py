# attacks: TPL104
# promise: a loader over a TensorDataset gives tensors
# stays safe: yes
"""Labels of all batches are collected for a report."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Linear(3, 2)
loader = DataLoader(TensorDataset(torch.randn(6, 3), torch.tensor([0, 1, 1, 0, 1, 0])), batch_size=2)
truth, guess = [], []
for x, y in loader:
    truth.append(y.data.numpy())
    guess.append(net(x).max(1)[1].data.cpu().numpy())
print(np.concatenate(truth).tolist(), np.concatenate(guess).tolist())
