# attacks: TPL101
# promise: an attribute gets its values in the class alone that makes it
import torch
from torch import nn
from torch.autograd import Variable


class Recurrent:
    def __init__(self, width):
        self.hidden = torch.zeros(1, width)

    def context(self):
        return Variable(self.hidden)


class Controller(Recurrent):
    def __init__(self, cell):
        super().__init__(cell.hidden_size)
        self.cell = cell

    def step(self, x):
        self.hidden = self.cell(x, self.context())
        return self.hidden


torch.manual_seed(0)
controller = Controller(nn.RNNCell(2, 3))
for x in torch.randn(3, 1, 2):
    out = controller.step(x)
    out.pow(2).sum().backward()
print(f"{controller.cell.weight_hh.grad.sum().item():.4f}")
