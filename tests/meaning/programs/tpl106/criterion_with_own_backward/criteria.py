from torch import nn


class Criterion:
    def __init__(self, model):
        self.model = model
        self.kept = 0

    def forward(self, x, y):
        self.loss = nn.functional.mse_loss(self.model(x), y)
        return self.loss

    def backward(self, retain_variables=False):
        self.kept += retain_variables
        self.loss.backward(retain_graph=retain_variables)
