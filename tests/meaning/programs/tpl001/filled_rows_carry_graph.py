# attacks: TPL001
# promise: a tensor made by torch.zeros has no graph where it is changed
"""Messages are written into a buffer that is then masked through `.data`."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 3)
nodes = torch.randn(4, 3)
messages = torch.zeros(4, 3)
for index in range(4):
    messages[index] = layer(nodes[index])
messages.data.mul_(0.5)
messages.sum().backward()
print("weight", [round(v, 4) for v in layer.weight.grad.flatten().tolist()])
print("value", round(messages.sum().item(), 4), messages.requires_grad)
