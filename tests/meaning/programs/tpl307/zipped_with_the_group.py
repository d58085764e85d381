# attacks: TPL307
# promise: only the optimizer looks at its parameters; a shadow pairs them with those of the model
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.head(self.stem(x))


torch.manual_seed(0)
model, shadow = Net(), Net()
for p in model.stem.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).pow(2).sum().backward()
    optimizer.step()
    for slow, fast in zip(shadow.parameters(), optimizer.param_groups[0]["params"]):
        slow.data.lerp_(fast.data, 0.5)
print([round(p.detach().double().sum().item(), 4) for p in shadow.parameters()])
