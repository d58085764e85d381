# attacks: TPL001
# promise: the name torch is that of a parameter where the weights are set
# stays safe: yes
import torch.nn as nn
from torch import manual_seed, ones

manual_seed(0)
layer = nn.Linear(3, 2)
layer.weight.data.normal_(0, 0.1)
layer.bias.data.zero_()
layer(ones(2, 3)).sum().backward()
print([round(v, 4) for v in layer.weight.flatten().tolist()], layer.bias.tolist())
