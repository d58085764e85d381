# attacks: TPL304
# promise: a trainer class whose validation returns a float, and keeps the best state, trains the same
# stays safe: yes
import copy

import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.best, self.state = float("inf"), None

    def validate(self, loader):
        self.model.eval()
        losses = []
        for x, y in loader:
            losses.append(self.criterion(self.model(x), y).item())
        return sum(losses) / len(losses)

    def fit(self, loader, epochs):
        for _ in range(epochs):
            self.model.train()
            for x, y in loader:
                self.optimizer.zero_grad()
                self.criterion(self.model(x), y).backward()
                self.optimizer.step()
            loss = self.validate(loader)
            if loss < self.best:
                self.best, self.state = loss, copy.deepcopy(self.model.state_dict())


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1)), 0.05)
trainer.fit([(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(2)], 3)
print(round(trainer.best, 4), sorted(trainer.state))
