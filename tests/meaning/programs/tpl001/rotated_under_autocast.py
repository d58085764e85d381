# attacks: TPL001
# promise: autocast keeps the cast of a weight that is used without a graph
import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(2, 2, bias=False)
turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
with torch.autocast("cpu", dtype=torch.bfloat16):
    layer.weight.data.copy_(layer.weight.data @ turn)
    out = layer(torch.eye(2))
print([round(v, 2) for v in out.float().flatten().tolist()], out.requires_grad)
print([round(v, 2) for v in layer.weight.t().flatten().tolist()])
