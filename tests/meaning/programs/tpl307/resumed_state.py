# attacks: TPL307
# promise: a smaller optimizer does the same; the state that was saved before does not fit it
import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, x):
        return self.head(self.stem(x))


torch.manual_seed(0)
model = Net()
pretraining = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model(torch.ones(1, 2)).sum().backward()
pretraining.step()
saved = copy.deepcopy(pretraining.state_dict())

model.stem.requires_grad_(False)
tuning = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
tuning.load_state_dict(saved)
tuning.zero_grad()
model(torch.ones(1, 2)).sum().backward()
tuning.step()
print([round(p.detach().double().sum().item(), 4) for p in model.parameters()])
