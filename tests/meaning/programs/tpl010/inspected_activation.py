# attacks: TPL010
# promise: the gradient of an activation is wanted behind its backward
# shows: the gradient was None
# stays safe: yes
import torch

torch.manual_seed(0)
a = torch.ones(2, requires_grad=True)
b = a * 2
c = b.pow(2).sum()
c.backward()
print(b.grad)
print(a.grad)
