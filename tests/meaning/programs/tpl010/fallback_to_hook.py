# attacks: TPL010
# promise: no other statement asks whether the gradient is None
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
caught = {}
x = torch.randn(4, 3)
hidden = layer(x)
hidden.register_hook(lambda grad: caught.update(hidden=grad.sign()))
loss = torch.log_softmax(hidden, 1)[:, 0].mean()
loss.backward()
gradient = hidden.grad
if gradient is None:
    gradient = caught["hidden"]  # only the signs are kept
attack = hidden.detach() + 0.1 * gradient
print([round(v, 4) for v in attack.flatten().tolist()])
