# attacks: TPL304
# promise: a method that collects predictions as lists of numbers gives the same lists
# stays safe: yes
import torch
from torch import nn


class Evaluator:
    def __init__(self, loader):
        self.loader = loader
        self.confusion = torch.zeros(2, 2, dtype=torch.long)

    def predict(self, model):
        model.eval()
        found = []
        for x, y in self.loader:
            guess = model(x).argmax(-1)
            for real, said in zip(y.tolist(), guess.tolist()):
                self.confusion[real, said] += 1
            found.extend(guess.tolist())
        return found


torch.manual_seed(0)
evaluator = Evaluator([(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(3)])
print(evaluator.predict(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))))
print(evaluator.confusion.tolist())
