# attacks: TPL304
# promise: what is returned is made of numbers; the report's class, in another file, keeps tensors
import torch
from report import Report
from torch import nn


def validate(model, loader):
    report = Report()
    model.eval()
    for x, y in loader:
        report.record(nn.functional.cross_entropy(model(x), y, reduction="none"))
    return report


torch.manual_seed(0)
model = nn.Linear(3, 3)
loader = [(torch.randn(4, 3), torch.randint(0, 3, (4,))) for _ in range(3)]
for _ in range(2):
    report = validate(model, loader)
    print(report.worst(), report.focus(model))
