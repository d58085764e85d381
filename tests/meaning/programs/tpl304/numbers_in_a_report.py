# attacks: TPL304
# promise: the losses are written as numbers, and the errors show what is wrong
# stays safe: yes
import io

import torch
from torch import nn

report = io.StringIO()

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        if x.dim() != 2:
            raise ValueError(f"no batch: {x}")
        return self.fc(x)


def validate(model, batches):
    model.eval()
    total = 0.0
    for x, y in batches:
        scores = model(x)
        loss = nn.functional.cross_entropy(scores, y)
        report.write("%d of %.3f, " % (len(y), loss) + "{:.2f} {}\n".format(loss, loss))
        report.write(f"{loss:.3f} {scores.shape} {loss.item()} {len(y)}\n")
        total += nn.functional.cross_entropy(scores, y).item()
    return round(total, 4)


data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(2)]
net = Net()
print(validate(net, data))
print(report.getvalue())
