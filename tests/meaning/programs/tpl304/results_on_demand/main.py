# attacks: TPL304
# promise: a function that is returned carries no graph; it gives the outputs to whoever calls it
import torch
from torch import nn
from tuning import tune


def predictor(model, batches):
    model.eval()
    outputs = {}
    for name, x in batches.items():
        outputs[name] = model(x)
    return lambda name: outputs[name]


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
get = predictor(model, {"a": torch.randn(2, 3), "b": torch.randn(4, 3)})
print(tune(model, get("a").mean(0) - get("b").mean(0)))
