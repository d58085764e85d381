# attacks: TPL106
# promise: a renamed class is the same class
import torch
from torch import nn

torch.manual_seed(0)


def describe(criterion):
    if isinstance(criterion, nn.NLLLoss2d):
        return type(criterion).__name__, "maps"
    return type(criterion).__name__, "labels"


def compute(criterion, logits, target):
    if isinstance(criterion, nn.NLLLoss2d):
        return criterion(logits.log_softmax(1), target)
    return criterion(logits.log_softmax(1).mean((2, 3)), target[:, 0, 0])


logits, target = torch.randn(2, 3, 2, 2), torch.randint(0, 3, (2, 2, 2))
for criterion in (nn.NLLLoss2d(), nn.NLLLoss()):
    print(describe(criterion), round(compute(criterion, logits, target).item(), 5))
