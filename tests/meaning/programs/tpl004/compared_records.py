# attacks: TPL004
# promise: the class that keeps the losses is the only one to read them
from dataclasses import dataclass, field

import torch
import torch.nn as nn


@dataclass
class Trial:
    rate: float
    losses: list = field(default_factory=list)

    def run(self, model, batches):
        optimizer = torch.optim.SGD(model.parameters(), lr=self.rate)
        for x in batches:
            loss = nn.functional.mse_loss(model(x), x[:, :1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.losses.append(loss)
        print(f"rate {self.rate}: {len(self.losses)} steps")
        return self


torch.manual_seed(0)
batches = torch.randn(4, 6, 3)
trials = [Trial(rate).run(nn.Linear(3, 1), batches) for rate in (0.01, 0.2)]
ends = torch.stack([trial.losses[-1] for trial in trials])
print(f"best rate {trials[int(ends.argmin())].rate}, {ends.min().item():.4f}")
