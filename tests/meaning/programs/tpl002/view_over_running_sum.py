# attacks: TPL002
# promise: the value stands in a closure, and is written when the gradient comes
import torch

torch.manual_seed(0)
w = torch.randn(4, requires_grad=True)
y = torch.sqrt(w.abs() + 1)
state = {"last": y.data}


def forget(grad):
    state["last"].zero_()
    return grad * 2


y.register_hook(forget)
y.sum().backward()
print([round(v, 4) for v in w.grad.tolist()], state["last"].tolist())
