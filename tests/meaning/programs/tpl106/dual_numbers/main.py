# attacks: TPL106
# promise: F.sigmoid is given a tensor
import torch
import torch.nn.functional as F

from duals import Dual

torch.manual_seed(0)
x = Dual(torch.randn(3), torch.ones(3))
gate = F.sigmoid(x * 2)
out = F.tanh(x) * gate
print([round(v, 5) for v in out.value.tolist()])
print([round(v, 5) for v in out.slope.tolist()])
