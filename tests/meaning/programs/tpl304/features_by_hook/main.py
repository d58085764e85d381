# attacks: TPL304
# promise: nobody but the loop sees the outputs; a hook of another file keeps them for a backward
import torch
from taps import FEATURES, tap
from torch import nn


def predict(model, batches):
    model.eval()
    labels = []
    for x in batches:
        labels.extend(model(x).argmax(-1).tolist())
    return labels


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2))
tap(model[1], "relu")
print(predict(model, [torch.randn(4, 3) for _ in range(2)]))
sparsity = sum(feature.abs().mean() for feature in FEATURES["relu"])
sparsity.backward()
print(round(sparsity.item(), 4), round(model[0].weight.grad.norm().item(), 4))
