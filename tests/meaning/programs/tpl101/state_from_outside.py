# attacks: TPL101
# promise: an attribute that is made without a graph gets none from outside the class
import torch
from torch import nn
from torch.autograd import Variable


class Memory:
    def __init__(self, width):
        self.state = torch.zeros(1, width)

    def recall(self):
        return Variable(self.state)


torch.manual_seed(0)
cell, readout = nn.GRUCell(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *readout.parameters()], lr=0.1)
memory = Memory(3)
for x in torch.randn(4, 1, 2):
    memory.state = cell(x, memory.recall())
    loss = readout(memory.state).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print([f"{value:.4f}" for value in memory.state[0].tolist()])
