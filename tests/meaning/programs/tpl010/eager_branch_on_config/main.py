# attacks: TPL010
# promise: autograd is on as the file shows it
import torch
from torch import nn

from regime import regime

torch.manual_seed(0)
trunk, head = nn.Linear(3, 4), nn.Linear(4, 1)
regime.start()
hidden = torch.tanh(trunk(torch.randn(4, 3)))
regime.stop()
loss = head(hidden).mean()
loss.backward()
print(hidden.grad, trunk.weight.grad, [round(v, 5) for v in head.weight.grad.flatten().tolist()])
