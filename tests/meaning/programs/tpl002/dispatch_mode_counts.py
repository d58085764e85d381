# attacks: TPL002
# promise: a mode counts the functions of torch that are called
import torch
from torch.overrides import TorchFunctionMode

torch.manual_seed(0)


class Counting(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.append(getattr(function, "__name__", str(function)))
        return function(*args, **(kwargs or {}))


scores = torch.randn(2, 3, requires_grad=True) + 1
with Counting() as mode:
    best = torch.max(scores.data, 1)[1]
print(best.tolist(), mode.names)
