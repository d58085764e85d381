# attacks: TPL002
# promise: the output of a layer is a tensor, and detach is what is meant
# stays safe: yes
"""Accuracy as in the tutorials of 2018."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
correct = total = 0
for _ in range(3):
    inputs, labels = torch.randn(8, 4), torch.randint(0, 3, (8,))
    outputs = net(inputs)
    _, predicted = torch.max(outputs.data, 1)
    total += labels.size(0)
    correct += (predicted == labels).sum().item()
    nn.functional.cross_entropy(outputs, labels).backward()
print(correct, total, round(net.bias.grad.abs().sum().item(), 5))
