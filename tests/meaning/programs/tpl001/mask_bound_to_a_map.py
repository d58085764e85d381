# attacks: TPL001
# promise: a method that is handed to map saves the mask that it is bound to
import torch

x = torch.ones(3, requires_grad=True)
mask = torch.tensor([1.0, 0.0, 1.0])
masked = list(map(mask.mul, [x]))
mask.data.fill_(1)
masked[0].sum().backward()
print(x.grad)
