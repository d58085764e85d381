# attacks: TPL005
# promise: the method of a tensor is overwritten by mistake
import functools

import torch

torch.manual_seed(0)
calls = []


def recorded(tensor, flag=True):
    calls.append((tuple(tensor.shape), flag))
    return tensor


weight = torch.randn(2, 3)
weight.requires_grad_ = functools.partial(recorded, weight)
bias = torch.zeros(2)
for tensor in (weight, bias):
    tensor.requires_grad_(True)
print(calls, weight.requires_grad, bias.requires_grad)
out = torch.randn(4, 3) @ weight.t() + bias
out.sum().backward()
print(weight.grad, bias.grad.tolist())
