# attacks: TPL304
# promise: the losses are printed as they were
# shows: the printed losses no longer carry a grad_fn
import torch
from torch import nn


def validate(model, loader, criterion):
    model.eval()
    for x, y in loader:
        print("loss", criterion(model(x), y))


torch.manual_seed(0)
loader = [(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(2)]
validate(nn.Linear(3, 2), loader, nn.CrossEntropyLoss())
