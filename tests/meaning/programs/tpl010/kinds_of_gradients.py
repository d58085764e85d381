# attacks: TPL010
# promise: what kind of thing the gradient is decides
import torch

torch.manual_seed(0)
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 3
b.pow(2).sum().backward()
names = {"NoneType": "inner", "Tensor": "leaf"}
print([names[type(grad).__name__] for grad in (a.grad, b.grad)])
c = a.exp()
c.sum().backward()
print(isinstance(c.grad, torch.Tensor), [a.grad, c.grad].count(None))
