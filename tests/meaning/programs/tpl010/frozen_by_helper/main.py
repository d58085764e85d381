# attacks: TPL010
# promise: a leaf of this file still requires grad when it is used
import torch

from freeze import hold

torch.manual_seed(0)
scale = torch.ones(3, requires_grad=True)
shift = torch.zeros(3, requires_grad=True)
hold([scale])
x = torch.randn(5, 3)
scaled = x * scale
loss = (scaled + shift).pow(2).mean()
loss.backward()
print(scaled.grad, scale.grad, [round(v, 5) for v in shift.grad.tolist()])
