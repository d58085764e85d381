# attacks: TPL001
# promise: a custom function has saved the tensor that was just made
import torch

torch.manual_seed(0)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad


class Saved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] * grad


for function in (Square, Saved):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    out = function.apply(w)
    w.data[0] = 5.0
    out.sum().backward()
    print(function.__name__, w.grad.tolist())
