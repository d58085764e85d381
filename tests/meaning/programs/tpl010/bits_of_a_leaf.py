# attacks: TPL010
# promise: a view in whole numbers has no graph to retain a gradient in
import torch

a = torch.ones(2, requires_grad=True)
bits = a.view(torch.int32)
loss = (a * bits).sum()
loss.backward()
print(a.grad.tolist())
print(bits.grad)
