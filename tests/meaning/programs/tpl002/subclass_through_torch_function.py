# attacks: TPL002
# promise: the tensors are of a class that overrides what torch's functions do
import torch

torch.manual_seed(0)


class Metered(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.calls.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs or {})


x = torch.randn(2, 3).as_subclass(Metered)
out = torch.tanh(x)
best = torch.max(out.data, 1)[1]
print(type(out.data).__name__, best.tolist(), Metered.calls[:4])
