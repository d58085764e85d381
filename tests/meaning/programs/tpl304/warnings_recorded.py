# attacks: TPL304
# promise: the warnings of the evaluation are counted
import warnings

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


def validate(model, batches):
    model.eval()
    total = 0.0
    for x, y in batches:
        scores = model(x)
        total += float(scores.sum())
        total += nn.functional.cross_entropy(scores, y).item()
    return round(total, 4)


data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(2)]
net = Net()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(validate(net, data))
print(len(caught))
