# attacks: TPL003
# promise: memory that was put aside in one method is not overwritten in another
"""An EMA puts the weights aside in one method and restores them in another."""
import torch
from torch import nn

torch.manual_seed(0)


class Average:
    def __init__(self, model):
        self.model = model
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.backup = {}

    def update(self):
        for n, p in self.model.named_parameters():
            self.shadow[n] = 0.5 * self.shadow[n] + 0.5 * p.detach()

    def apply(self):
        for n, p in self.model.named_parameters():
            self.backup[n] = p.data
            p.data = self.shadow[n]

    def restore(self):
        for n, p in self.model.named_parameters():
            p.data = self.backup[n]


model = nn.Linear(2, 1)
average = Average(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).pow(2).sum().backward()
    optimizer.step()
    average.update()
    average.apply()
    print("averaged", round(model(torch.ones(1, 2)).item(), 5))
    average.restore()
print(round(model.weight.sum().item(), 5), round(average.shadow["weight"].sum().item(), 5))
