# attacks: TPL006, TPL009
# promise: all safe fixes together leave a finetuning script with EMA and meters as it was, less its hazards
# shows: the backbone was trained although it was frozen, and the best weights were the last ones
import copy
from dataclasses import dataclass

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR

torch.manual_seed(7)


@dataclass
class Meter:
    total: float = 0.0
    count: int = 0

    def update(self, value: float, n: int = 1) -> None:
        self.total += value * n
        self.count += n

    @property
    def average(self) -> float:
        return self.total / max(self.count, 1)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(4, 8), nn.GELU())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


model = Classifier()
model.backbone.requires_grad = False
start = copy.deepcopy(model.backbone.state_dict())
ema = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.3)
scheduler = CosineAnnealingLR(optimizer, T_max=4)
x, y = torch.randn(24, 4), torch.randint(0, 3, (24,))
best, best_state = float("inf"), model.state_dict()
for epoch in range(4):
    meter = Meter()
    for xb, yb in zip(x.split(8), y.split(8)):
        loss = nn.functional.cross_entropy(model(xb), yb, label_smoothing=0.1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        meter.update(loss.item(), len(xb))
        with torch.no_grad():
            for averaged, current in zip(ema.parameters(), model.parameters()):
                averaged.lerp_(current, 0.1)
    scheduler.step()
    if meter.average < best:
        best, best_state = meter.average, model.state_dict()
model.load_state_dict(best_state)
print(all(torch.equal(start[name], value) for name, value in model.backbone.state_dict().items()))
