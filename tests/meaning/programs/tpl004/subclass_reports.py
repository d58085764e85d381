# attacks: TPL004
# promise: a subclass reads the attribute as a number too
import torch
import torch.nn as nn


class Loop:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.epoch_loss = 0.0

    def run(self, batches):
        for x in batches:
            loss = self.loss(x)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.epoch_loss += loss
        print(f"{type(self).__name__}: {self.epoch_loss / len(batches):.4f}")

    def loss(self, x):
        return nn.functional.mse_loss(self.model(x), x)


class Likelihood(Loop):
    def likelihood(self):
        return self.epoch_loss.neg().exp()


torch.manual_seed(0)
loop = Likelihood(nn.Linear(2, 2))
loop.run(torch.randn(3, 4, 2))
print(f"{loop.likelihood().item():.4f}")
