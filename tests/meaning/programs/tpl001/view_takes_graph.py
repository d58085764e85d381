# attacks: TPL001
# promise: a change of a view leaves the base without graph
"""A canvas gets its middle from a network through a view of it, and is scaled afterwards."""
import torch

torch.manual_seed(0)
brush = torch.randn(2, 2, requires_grad=True)
canvas = torch.ones(4, 4)
middle = canvas[1:3, 1:3]
middle.mul_(brush)

canvas.data.div_(4)
print("value", round(canvas.sum().item(), 4), canvas.requires_grad)
(canvas * 3).sum().backward()
print("gradient", brush.grad.flatten().tolist())
