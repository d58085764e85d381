# attacks: TPL002
# promise: what is saved by a custom function is read as a constant, as before
"""A straight-through sign whose backward reads its saved input through .data, differentiated twice."""
import torch

torch.manual_seed(0)


class SoftSign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        weight = torch.sigmoid(x.data)
        return grad * weight * (1 - x.pow(2)).clamp(min=0)


x = torch.randn(4, requires_grad=True)
(first,) = torch.autograd.grad(SoftSign.apply(x).pow(2).sum(), x, create_graph=True)
(second,) = torch.autograd.grad(first.sum(), x)
print([round(v, 5) for v in first.tolist()], [round(v, 5) for v in second.tolist()])
