# attacks: TPL101
# promise: what a data loader gives has no graph
import torch
from torch import nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(4, 3), nn.Tanh())
head = nn.Linear(3, 2)
features = backbone(torch.randn(6, 4))
labels = torch.tensor([0, 1, 0, 1, 1, 0])
optimizer = torch.optim.SGD([*head.parameters(), *backbone.parameters()], lr=0.1)
for f, y in DataLoader(TensorDataset(features, labels), batch_size=3):
    f, y = Variable(f), Variable(y)
    loss = nn.functional.cross_entropy(head(f), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(backbone[0].weight.grad, f"{head.weight.abs().sum().item():.4f}")
