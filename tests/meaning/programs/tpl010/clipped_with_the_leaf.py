# attacks: TPL010
# promise: gradients are clipped by their common norm, which had none of the intermediate result
import torch

a = torch.ones(2, requires_grad=True)
b = a * 2
loss = (b * 3).sum()
loss.backward()
norm = torch.nn.utils.clip_grad_norm_([a, b], 1.0)
print(norm, a.grad.tolist())
b.grad
