# attacks: TPL303
# promise: the object was of no use before; its maker falls back on another one
import torch
from torch import nn


class Custom(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)


def make():
    try:
        return Custom()
    except AttributeError as error:
        print("falls back:", error)
        return nn.Identity()


torch.manual_seed(0)
print(type(make()).__name__)
