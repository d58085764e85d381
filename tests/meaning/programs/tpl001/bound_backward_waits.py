# attacks: TPL001
# promise: a bound method is the loss that waits while the weights are clipped
import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
go = head(torch.sigmoid(body(torch.ones(2, 3)))).mean().backward
head.weight.data.clamp_(-0.1, 0.1)
go()
print([round(v, 4) for v in body.bias.grad.tolist()])
