# attacks: TPL005
# promise: a module of the file that sets a misspelt flag has no base that reads it
import torch
from torch import nn

from freezing import Freezable

torch.manual_seed(0)


class Backbone(Freezable, nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def lock(self):
        self.requires_grads = False
        self.apply_lock()

    def forward(self, x):
        return torch.tanh(self.fc(x))


backbone = Backbone()
backbone.lock()
head = nn.Linear(3, 1)
loss = head(backbone(torch.randn(5, 3))).mean()
loss.backward()
print([p.requires_grad for p in backbone.parameters()], backbone.fc.weight.grad)
print(round(head.weight.grad.sum().item(), 5))
