# attacks: TPL001
# promise: a tensor made by a factory without requires_grad is no leaf later
"""Latents are made together and marked as trainable in a loop."""
import torch

torch.manual_seed(0)
shift = torch.zeros(3)
scale = torch.ones(3)
trainable = [shift, scale]
for tensor in trainable:
    tensor.requires_grad_()

x = torch.randn(10, 3)
optimizer = torch.optim.SGD(trainable, lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    ((x * scale + shift - 1) ** 2).mean().backward()
    optimizer.step()
    scale.data.clamp_(min=0.95)
print([round(v, 4) for v in shift.tolist()], [round(v, 4) for v in scale.tolist()])
