# attacks: TPL010
# promise: the gradient of an intermediate result is wanted
# shows: it is None
# stays safe: yes
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = x * 3
out = hidden.pow(2).sum()
out.backward()
print(x.grad.tolist())
print(hidden.grad)
