# attacks: TPL102
# promise: a mean has no dimensions
# shows: the index raises
# stays safe: yes
import torch
import torch.nn.functional as F

torch.manual_seed(0)


def report(out, target):
    loss = F.mse_loss(out, target)
    return loss.data[0]


print(round(report(torch.zeros(3), torch.ones(3)), 4))
