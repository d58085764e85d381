# attacks: TPL304
# promise: an assignment to several targets keeps nothing; one of them is an attribute that is read elsewhere
import torch
from torch import nn
from updates import apply_penalty


class Monitor:
    def __init__(self, model):
        self.model = model
        self.penalty, self.steps = torch.zeros(()), 0

    def evaluate(self, batches):
        self.model.eval()
        for x in batches:
            self.penalty, self.steps = self.model(x).pow(2).mean(), self.steps + 1
        return self.steps


torch.manual_seed(0)
monitor = Monitor(nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.1), nn.Linear(4, 2)))
for _ in range(3):
    print(monitor.evaluate([torch.randn(2, 3) for _ in range(2)]), apply_penalty(monitor))
