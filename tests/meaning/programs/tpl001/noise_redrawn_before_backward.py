# attacks: TPL001
# promise: what an initialiser changes was not saved by a backward that follows
"""Each step uses one row of exploration noise; the next row is drawn while the loss is still growing."""
import torch
from torch import nn

torch.manual_seed(0)
noise = torch.zeros(4, 3)
scale = torch.full((3,), 0.1, requires_grad=True)
loss = torch.zeros(())
nn.init.normal_(noise.data[0])
for t in range(3):
    loss = loss + (scale * noise[t]).exp().sum()
    nn.init.normal_(noise.data[t + 1])
loss.backward()
print(round(loss.item(), 5), [round(v, 5) for v in scale.grad.tolist()], round(noise.sum().item(), 5))
