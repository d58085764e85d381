# attacks: TPL001, TPL003
# promise: a mode is told which functions of torch are called
import torch
import torch.nn as nn
from torch.overrides import TorchFunctionMode


class Log(TorchFunctionMode):
    names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        Log.names.append(getattr(func, "__name__", "?"))
        return func(*args, **(kwargs or {}))


torch.manual_seed(0)
layer = nn.Linear(3, 3)
with Log():
    layer.weight.data.mul_(2)
    layer.bias.data.zero_()
    layer.weight.data = nn.init.ones_(layer.weight.data)
print(Log.names)
