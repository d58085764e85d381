# attacks: TPL103
# promise: an attribute of a parameter that nobody describes is a tensor's
import types

import torch


def freeze(options):
    options.volatile = False
    return options


def variables(options, count):
    scale = 3.0 if getattr(options, "volatile", True) else 1.0
    return torch.randn(count) * scale


torch.manual_seed(0)
run = freeze(types.SimpleNamespace(name="calm"))
print(sorted(vars(run)), [f"{value:.4f}" for value in variables(run, 3).tolist()])
