# attacks: TPL010
# promise: what a layer gives requires grad when the program runs
import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Linear(4, 8)
head = nn.Linear(8, 2)
for parameter in backbone.parameters():
    parameter.requires_grad = False

x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
features = torch.relu(backbone(x))
loss = nn.functional.cross_entropy(head(features), y)
loss.backward()
print("gradient of the features:", features.grad)
print(round(head.weight.grad.abs().sum().item(), 5), backbone.weight.grad)
