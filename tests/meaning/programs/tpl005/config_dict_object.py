# attacks: TPL005
# promise: what an imported loader of settings returns is no parameter
import json
from types import SimpleNamespace

import torch
from torch import nn

torch.manual_seed(0)


def apply_plan(plan, model):
    flags = vars(plan)
    model[0].requires_grad_(flags["require_grad"])
    return {name: value for name, value in sorted(flags.items())}


plan = json.loads('{"lr": 0.1, "require_grad": true}', object_hook=lambda d: SimpleNamespace(**d))
plan.require_grad = False
model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
print(apply_plan(plan, model))
model(torch.ones(1, 2)).sum().backward()
print(model[0].weight.grad, model[1].weight.grad.tolist())
