# attacks: TPL010
# promise: a loop over tensors passes by those that have no gradient
import torch

a = torch.ones(2, requires_grad=True)
b = a * 2
loss = (b * 3).sum()
loss.backward()
norm = 0.0
for t in [a, b]:
    if t.grad is not None:
        norm += t.grad.norm().item()
print(norm)
b.grad
