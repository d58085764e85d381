# attacks: TPL304
# promise: the whole function is evaluation; its imported call is a training epoch
import torch
from engine import one_epoch
from torch import nn


def run(model, train_batches, val_batches, epochs):
    scores = []
    for _ in range(epochs):
        one_epoch(model, train_batches)
        model.eval()
        right = 0
        for x, y in val_batches:
            right += (model(x).argmax(-1) == y).sum().item()
        scores.append(right)
    return scores


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 2))
x = torch.randn(60, 4)
y = (x[:, 0] > 0).long()
batches = list(zip(x.split(20), y.split(20)))
print(run(model, batches[:2], batches[2:], 4))
print([round(p.detach().double().sum().item(), 4) for p in model.parameters()])
