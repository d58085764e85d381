# attacks: TPL304
# promise: the metrics are numbers made of outputs; one of them, from elsewhere, differentiates
import torch
from metrics import METRICS
from torch import nn


def evaluate(model, loader, metrics):
    model.eval()
    for x, y in loader:
        output = model(x)
        for name, metric in metrics.items():
            print(name, round(metric(model, x, output, y), 4))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
loader = [(torch.randn(3, 4), torch.randint(0, 2, (3,))) for _ in range(3)]
evaluate(model, loader, METRICS)
