# attacks: TPL004
# promise: what is known of a loss lives as long as the loss
import weakref

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
epoch_of = weakref.WeakKeyDictionary()
losses = []
for epoch in range(3):
    loss = (model(torch.randn(4, 3)) ** 2).mean()
    epoch_of[loss] = epoch
    loss.backward()
    losses.append(loss)
print(sorted(epoch_of.values()))
print([f"{float(each):.3f}" for each in losses])
