# attacks: TPL010
# promise: the lack of a gradient is told by a check in another function
import torch

torch.manual_seed(0)


def report(**tensors):
    for name, tensor in tensors.items():
        print(name, "leaf" if tensor.is_leaf else "inner", "kept" if tensor.retains_grad else "not kept")


a = torch.ones(3, requires_grad=True)
b = a * 2
c = b.exp()
c.sum().backward()
gradients = [a.grad, b.grad]
report(a=a, b=b)
print(sum(grad.sum().item() for grad in gradients if grad is not None) > 0)
