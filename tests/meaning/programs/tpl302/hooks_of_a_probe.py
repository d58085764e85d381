# attacks: TPL302
# promise: calling the module gives what its forward gives; a hook changes the output
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 2)
handle = model.register_forward_hook(lambda module, inputs, output: output * 0)
x = torch.ones(1, 2)
print(round(model.forward(x).sum().item(), 4), round(model(x).sum().item(), 4))
handle.remove()
print(round(model.forward(x).sum().item(), 4))
