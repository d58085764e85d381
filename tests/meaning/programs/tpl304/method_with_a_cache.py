# attacks: TPL304
# promise: a method of the model keeps what it gives
import functools

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.feature() + self.fc(x)

    @functools.lru_cache(maxsize=None)
    def feature(self):
        return self.fc.weight.sum()


def validate(model, batches):
    model.eval()
    total = 0.0
    for x, y in batches:
        scores = model(x)
        total += nn.functional.cross_entropy(scores, y).item()
    return round(total, 4)


data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(2)]
net = Net()
print(validate(net, data))
print(net.feature().requires_grad)
