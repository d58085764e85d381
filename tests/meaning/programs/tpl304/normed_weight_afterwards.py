# attacks: TPL304
# promise: evaluation leaves a model's weights alone; a weight norm computes them in each forward
import torch
from torch import nn


def accuracy(model, loader):
    model.eval()
    right = 0
    for x, y in loader:
        right += (model(x).argmax(-1) == y).sum().item()
    return right


torch.manual_seed(0)
layer = torch.nn.utils.weight_norm(nn.Linear(4, 3))
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
loader = [(torch.randn(5, 4), torch.randint(0, 3, (5,))) for _ in range(2)]
for _ in range(2):
    print(accuracy(layer, loader))
    decay = layer.weight.abs().sum()
    optimizer.zero_grad()
    decay.backward()
    optimizer.step()
print([round(p.detach().double().sum().item(), 4) for p in layer.parameters()])
