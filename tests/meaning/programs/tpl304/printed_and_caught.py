# attacks: TPL304
# promise: what the evaluation prints is compared
import contextlib
import io

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
        print(scores.sum())
        total += nn.functional.cross_entropy(scores, y).item()
    return round(total, 4)


data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(2)]
net = Net()
with contextlib.redirect_stdout(io.StringIO()) as printed:
    validate(net, data)
print("grad_fn" in printed.getvalue())
