# attacks: TPL304
# promise: meters that are fed with numbers read the same
# stays safe: yes
import torch
from torch import nn


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


def validate(val_loader, model, criterion):
    losses, top1 = AverageMeter(), AverageMeter()
    model.eval()
    for images, target in val_loader:
        output = model(images)
        loss = criterion(output, target)
        accuracy = (output.argmax(1) == target).float().mean()
        losses.update(loss.item(), images.size(0))
        top1.update(accuracy.item(), images.size(0))
    return losses.avg, top1.avg


torch.manual_seed(0)
loader = [(torch.randn(n, 3), torch.randint(0, 2, (n,))) for n in (4, 4, 2)]
loss, accuracy = validate(loader, nn.Linear(3, 2), nn.CrossEntropyLoss())
print(round(loss, 3), round(accuracy, 3))
