# attacks: TPL014
# promise: nothing hangs on the tensor but its numbers
import torch
from torch import nn

torch.manual_seed(0)
layer, head = nn.Linear(3, 4), nn.Linear(4, 1)
hidden = layer(torch.randn(5, 3))
hidden.register_hook(lambda grad: grad * 0.5)
hidden.retain_grad()
hidden.clone()
loss = head(torch.tanh(hidden)).mean()
loss.backward()
print(round(loss.item(), 5), round(layer.weight.grad.sum().item(), 5))
print([round(v, 5) for v in hidden.grad[0].tolist()])
