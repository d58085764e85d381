# attacks: TPL106
# promise: super() in a subclass of a loss is that loss
import torch
from torch import nn

torch.manual_seed(0)


class SummedLoss(nn.MSELoss):
    def __init__(self):
        super().__init__(size_average=False)


class RecordedLoss(nn.MSELoss):
    def __init__(self, size_average=True):
        super().__init__(reduction="mean" if size_average else "sum")
        self.seen = []

    def forward(self, x, y):
        loss = super().forward(x, y)
        self.seen.append(round(loss.item(), 5))
        return loss


class TrainingLoss(SummedLoss, RecordedLoss):
    pass


loss = TrainingLoss()
for _ in range(2):
    loss(torch.randn(3), torch.randn(3))
print(loss.seen, loss.reduction)
