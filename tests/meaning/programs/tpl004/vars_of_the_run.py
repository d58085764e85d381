# attacks: TPL004
# promise: the attributes are read by their names alone
import torch
import torch.nn as nn


class Run:
    def __init__(self):
        self.task = 0.0
        self.steps = 0

    def add(self, loss):
        loss.backward()
        self.task += loss
        self.steps += 1
        if self.task > 1e6:
            raise RuntimeError("diverged")

    def tensors(self):
        return {name: value for name, value in vars(self).items() if torch.is_tensor(value)}


torch.manual_seed(0)
model = nn.Linear(2, 1)
run = Run()
for x in torch.randn(3, 4, 2):
    run.add((model(x) - x.sum()).abs().mean())
print({name: round(value.item(), 4) for name, value in run.tensors().items()}, run.steps)
