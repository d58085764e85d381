# attacks: TPL001
# promise: the shape changes in place before an item is set
import torch
import torch.nn as nn

torch.manual_seed(0)
kernel = torch.zeros(1, 1, 3, 3)
kernel.data.squeeze_()[1, 1] = 1.0
conv = nn.Conv2d(1, 1, 3, bias=False)
with torch.no_grad():
    conv.weight.copy_(kernel)
print(tuple(kernel.shape), conv(torch.ones(1, 1, 3, 3)).item())
