# attacks: TPL011
# promise: a module that is shared is nowhere used for its effect
import torch
from torch import nn

torch.manual_seed(0)


class Head(nn.Module):
    def __init__(self, width, attend):
        super().__init__()
        self.query, self.value = nn.Linear(width, width), nn.Linear(width, width)
        self.drop = nn.Dropout(0.5, inplace=True)
        self.attend = attend

    def forward(self, x):
        value = self.value(x)
        if self.attend:
            scores = torch.softmax(self.query(x), dim=-1)
            scores = self.drop(scores)
            value = value * scores
        else:
            self.drop(value)
        return value


head = Head(4, attend=False)
out = head(torch.randn(3, 4))
out.pow(2).sum().backward()
print((out == 0).sum().item(), round(out.sum().item(), 5), round(head.value.weight.grad.sum().item(), 5))
