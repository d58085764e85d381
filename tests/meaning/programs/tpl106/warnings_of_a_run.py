# attacks: TPL106
# promise: the deprecation is counted through the module of warnings under another name
import sys

import torch
import torch.nn as nn

counted = []
monitor = sys.modules["warnings"]
monitor.simplefilter("always")
monitor.showwarning = lambda message, category, *rest, **more: counted.append(category.__name__)
layer = nn.Linear(2, 2)
nn.init.constant(layer.weight, 0.5)
nn.utils.clip_grad_norm(layer.parameters(), 1.0)
criterion = nn.L1Loss(size_average=False)
print(counted, criterion.reduction, layer.weight.tolist())
