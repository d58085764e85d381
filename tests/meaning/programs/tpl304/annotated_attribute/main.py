# attacks: TPL304
# promise: only plain assignments keep a value in an attribute; this one has an annotation
import torch
from schedule import react
from torch import nn


class Validator:
    def __init__(self, criterion):
        self.criterion = criterion

    def validate(self, model, loader):
        model.eval()
        for x, y in loader:
            self.last: torch.Tensor = self.criterion(model(x), y)


torch.manual_seed(0)
model, validator = nn.Linear(3, 1), Validator(nn.MSELoss())
for _ in range(2):
    validator.validate(model, [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(2)])
    print(react(model, validator))
