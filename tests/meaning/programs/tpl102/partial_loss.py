# attacks: TPL102
# promise: a function of torch under another name reduces
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F

LOSSES = {"mse": partial(F.mse_loss, reduction="none"), "l1": partial(F.l1_loss, reduction="none")}
torch.manual_seed(0)
model = nn.Linear(3, 1)
for name in sorted(LOSSES):
    loss_fn = LOSSES[name]
    x = torch.randn(5, 3)
    loss = loss_fn(model(x).squeeze(1), x[:, 0])
    loss.max().backward()
    print(name, f"{loss.data[0]:.4f}", f"{loss_fn(model(x).squeeze(1), x[:, 1]).data[0]:.4f}")
