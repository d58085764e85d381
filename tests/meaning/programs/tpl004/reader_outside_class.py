# attacks: TPL004
# promise: the attribute is read as a number, in this class and outside it
import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.criterion = nn.MSELoss()
        self.losses = []

    def fit(self, batches):
        for x, y in batches:
            loss = self.criterion(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss)

    def summary(self):
        return f"{len(self.losses)} steps, last {self.losses[-1]:.4f}"


torch.manual_seed(0)
trainer = Trainer(nn.Linear(3, 1))
trainer.fit([(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(5)])
print(trainer.summary())
print(f"spread {torch.stack(trainer.losses).std().item():.4f}")
