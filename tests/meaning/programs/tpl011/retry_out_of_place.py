# attacks: TPL011
# promise: the error of the backward is not awaited
import torch

torch.manual_seed(0)
x = torch.randn(3, requires_grad=True)


def attempt(inplace):
    x.grad = None
    y = x.exp()
    if inplace:
        y += 1
    else:
        y = y + 2
    y.sum().backward()
    return y.sum().item()


try:
    total = attempt(inplace=True)
    mode = "in place"
except RuntimeError:
    total = attempt(inplace=False)
    mode = "out of place"
print(mode, round(total, 5), [round(v, 5) for v in x.grad.tolist()])
