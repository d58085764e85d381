# attacks: TPL107
# promise: a flag of models that may not be installed is left to a person
import torch
from torch import nn

try:
    from torchvision import models
except ImportError:
    models = None

torch.manual_seed(0)


def make_backbone(pretrained):
    if models is None or not pretrained:
        return nn.Sequential(nn.Flatten(), nn.Linear(12, 4))
    return models.resnet18(pretrained=pretrained)


net = make_backbone(False)
print(type(net).__name__, round(net(torch.randn(2, 3, 2, 2)).sum().item(), 5))
