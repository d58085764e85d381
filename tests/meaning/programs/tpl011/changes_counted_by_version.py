# attacks: TPL011
# promise: a tensor counts its changes in place
import torch


def scaled(x, times, learn=False):
    y = torch.sigmoid(x)
    for _ in range(times):
        y *= 2
    if learn:
        y.sum().backward()
    return y


for times in range(3):
    y = scaled(torch.full((3,), 0.5, requires_grad=True), times)
    print(y._version, y)
