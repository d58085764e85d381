# attacks: TPL106
# promise: the initialiser was replaced in its module
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def sparse_start(tensor, value):
    with torch.no_grad():
        tensor.zero_()
        tensor.view(-1)[0] = value
    return tensor


vars(nn.init)["constant"] = sparse_start
layer = nn.Linear(2, 2)
nn.init.constant(layer.weight, 0.5)
print(layer.weight.tolist())
