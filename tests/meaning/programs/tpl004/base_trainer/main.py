# attacks: TPL004
# promise: the attribute of a class is read as a number by its subclasses elsewhere
import torch
import torch.nn as nn
from engine import Engine


class Classifier(Engine):
    def report(self):
        mean = self.running.div(self.steps)
        return f"mean {mean.item():.4f}, perplexity {mean.exp().item():.4f}"


torch.manual_seed(0)
task = Classifier(nn.Linear(4, 3), nn.CrossEntropyLoss())
task.fit([(torch.randn(6, 4), torch.randint(0, 3, (6,))) for _ in range(4)])
print(task)
print(task.report())
