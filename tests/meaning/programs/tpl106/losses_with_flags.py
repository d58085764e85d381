# attacks: TPL106
# promise: flags that are written out have one meaning
# stays safe: yes
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
log_p, y = torch.randn(4, 3).log_softmax(1), torch.tensor([0, 2, 1, 1])
weights = torch.tensor([0.2, 0.3, 0.5])
print(round(nn.NLLLoss(weights, False)(log_p, y).item(), 5))
print([round(v, 5) for v in F.nll_loss(log_p, y, None, True, -100, False).tolist()])
print(round(F.kl_div(log_p, log_p.exp().roll(1), False).item(), 5))
print(round(nn.PoissonNLLLoss(True, False, size_average=False)(log_p, log_p.exp()).item(), 5))
print(round(nn.MarginRankingLoss(0.5, size_average=False, reduce=True)(log_p[0], log_p[1], torch.ones(3)).item(), 5))
