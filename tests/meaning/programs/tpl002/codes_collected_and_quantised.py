# attacks: TPL002
# promise: what a list collects is rounded in place in another loop
import torch
import torch.nn as nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid())
outputs = [encoder(x) for x in torch.randn(3, 2, 3)]
codes = []
for out in outputs:
    codes.append(out.data)
for code in codes:
    code.mul_(4).round_().div_(4)
loss = sum((out * weight).sum() for out, weight in zip(outputs, (1.0, 2.0, 3.0)))
loss.backward()
print([round(v, 4) for v in encoder[0].bias.grad.tolist()])
print(torch.cat(codes).sum().item())
