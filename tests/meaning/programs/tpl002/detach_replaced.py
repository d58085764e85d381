# attacks: TPL002
# promise: the program has put a detach of its own in place of torch's
import torch

torch.manual_seed(0)
calls = []
original = torch.Tensor.detach


def counted(self):
    calls.append(tuple(self.shape))
    return original(self)


torch.Tensor.detach = counted
out = torch.randn(3, 4, requires_grad=True) * 2
_, predicted = torch.max(out.data, 1)
print(predicted.tolist())
print(out.detach().shape, calls)
