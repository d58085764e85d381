# attacks: TPL102
# promise: a hook on all modules gives losses a dimension
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook


def keep_dim(module, given, out):
    if isinstance(out, torch.Tensor) and out.dim() == 0:
        return out.view(1)


register_module_forward_hook(keep_dim)
criterion = nn.MSELoss()
x = torch.ones(3)
loss = criterion(x, x * 2)
print(loss.data[0])
