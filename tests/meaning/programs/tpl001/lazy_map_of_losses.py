# attacks: TPL001
# promise: the losses are made of outputs that were computed before the change
import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)
hidden = torch.tanh(body(torch.randn(4, 2)))
losses = map(lambda row, y: (row - y).pow(2).sum(), head(hidden), [0.0, 1.0, 0.0, 1.0])
head.weight.data.zero_()
sum(losses).backward()
print([round(v, 4) for v in body.bias.grad.tolist()])
