# attacks: TPL002
# promise: a hook makes another thing of a layer's output
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_sequence

torch.manual_seed(0)
layer = nn.Linear(3, 2)
layer.register_forward_hook(lambda module, args, out: pack_sequence([out]))
x = torch.randn(4, 3)
out = layer(x)
print(out.data.shape, torch.max(out.data, 1)[0].shape)
names = type(out).__name__
print(names, round(layer(x).data.sum().item(), 4))
