# attacks: TPL101
# promise: the wrapped state is written into while the graph needs it
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.h0 = torch.ones(1, 2)

    def forward(self, x):
        h = Variable(self.h0)
        y = torch.sigmoid(self.fc(x)) * h * h
        self.h0.zero_()
        return y


cell = Cell()
try:
    cell(torch.ones(1, 2)).sum().backward()
    print([round(v, 4) for v in cell.fc.bias.grad.tolist()])
except RuntimeError as error:
    print("modified", "version" in str(error))
