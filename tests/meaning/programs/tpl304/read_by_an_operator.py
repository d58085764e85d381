# attacks: TPL304
# promise: what reads the flag is an operator that has its name as a string
import operator

import torch
from torch import nn

tracked = operator.attrgetter("requires_grad")

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        out = self.fc(x)
        return -out if tracked(out) else out


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
