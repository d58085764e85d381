# attacks: TPL002
# promise: autocast keeps the cast of a weight that is used without a graph
import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(3, 3, bias=False)
x = torch.randn(2, 3)
with torch.autocast("cpu", dtype=torch.bfloat16):
    with torch.no_grad():
        projected = torch.mm(x, layer.weight.data)
        gram = layer.weight.data @ x.t()
    out = layer(x)
print(tuple(projected.shape), tuple(gram.shape), out.requires_grad)
if out.requires_grad:
    out.float().sum().backward()
print(layer.weight.grad is not None)
