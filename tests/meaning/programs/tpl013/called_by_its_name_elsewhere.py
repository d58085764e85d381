# attacks: TPL013
# promise: the other mode is never entered, as that call is not made either
# shows: the module stays in the mode of training
import torch
import torch.nn as nn

torch.manual_seed(0)


class Recorder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)


model = Recorder()
model.eval
print(model.training, round(model(torch.ones(1, 2)).item(), 4))
hidden = torch.zeros(1, 2)
hidden.zero_
model.train
print(model.training)
