# attacks: TPL207
# promise: a layer of torch gives a tensor; a hook makes lists of its output
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(2, 2)
layer.register_forward_hook(lambda module, inputs, output: output.round(decimals=3).tolist())
row = torch.tensor(layer(torch.ones(1, 2)))
print(row.shape, [round(v, 3) for v in row[0].tolist()])
