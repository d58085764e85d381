# attacks: TPL304
# promise: a subclass of the file's overrides a step of the evaluation, and needs a gradient
import torch
import torch.nn as nn

torch.manual_seed(0)


class Evaluator:
    def __init__(self, model):
        self.model = model

    def score(self, out):
        return out.sum().item()

    def evaluate(self, batches):
        self.model.eval()
        total = 0.0
        for x in batches:
            total += self.score(self.model(x))
        return total


class Sensitivity(Evaluator):
    def score(self, out):
        weight = self.model.weight
        return torch.autograd.grad(out.pow(2).sum(), weight)[0].abs().sum().item()


print(round(Evaluator(nn.Linear(2, 1)).evaluate(torch.ones(2, 1, 2)), 4))
print(round(Sensitivity(nn.Linear(2, 1)).evaluate(torch.ones(2, 1, 2)), 4))
