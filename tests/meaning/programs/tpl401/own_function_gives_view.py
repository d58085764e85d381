# attacks: TPL401
# promise: what an own function returns is changed in place
import torch

class Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.arange(4).view(2, 2).double()
        return out

    @staticmethod
    def backward(ctx, g):
        return g

x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
y = Counted.apply(x)
y += 1
y.sum().backward()
print(y, x.grad)
