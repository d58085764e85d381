# attacks: TPL307
# promise: something is left that requires grad; this head has no weights
import torch
from torch import nn


class Prototypes(nn.Module):
    """Distances to class means: only the features could be trained, and they are frozen here."""

    def __init__(self):
        super().__init__()
        self.features = nn.Linear(3, 2)
        self.register_buffer("means", torch.zeros(2, 2))

    def forward(self, x):
        return -torch.cdist(self.features(x), self.means)


torch.manual_seed(0)
model = Prototypes()
for p in model.features.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for _ in range(2):
    optimizer.step()
    scheduler.step()
print(len(optimizer.param_groups), round(model(torch.ones(1, 3)).sum().item(), 4))
