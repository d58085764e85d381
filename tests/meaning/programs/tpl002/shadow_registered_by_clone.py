# attacks: TPL002
# promise: a clone of a parameter's values shares nothing with it
"""The shadow of an EMA is registered with clones and updated out of place."""
import torch
from torch import nn

torch.manual_seed(0)


class Ema:
    def __init__(self, decay):
        self.decay = decay
        self.shadow = {}

    def register(self, model):
        for name, param in model.named_parameters():
            self.shadow[name] = param.data.clone()

    def update(self, model):
        for name, param in model.named_parameters():
            self.shadow[name] = (1.0 - self.decay) * param.data + self.decay * self.shadow[name]


model, ema = nn.Linear(2, 1), Ema(0.5)
ema.register(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 2)).pow(2).mean().backward()
    optimizer.step()
    ema.update(model)
print([(n, round(v.sum().item(), 5), v.requires_grad) for n, v in ema.shadow.items()])
