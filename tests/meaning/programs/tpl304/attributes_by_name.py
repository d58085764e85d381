# attacks: TPL304
# promise: `setattr` keeps the outputs, graph and all, in an object of the caller
import types

import torch
from torch import nn


def run_heads(backbone, inputs, state):
    backbone.eval()
    for name, x in inputs.items():
        setattr(state, name + "_features", backbone(x))


torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.1), nn.Linear(4, 4))
state = types.SimpleNamespace()
run_heads(backbone, {"left": torch.randn(2, 3), "right": torch.randn(2, 3)}, state)
contrast = (state.left_features * state.right_features).sum()
try:
    contrast.backward()
    print("trained on", round(contrast.item(), 4))
except RuntimeError as error:
    print("not trained:", str(error)[:40])
print(backbone[0].weight.grad is not None)
