# attacks: TPL001
# promise: nobody outside the class stores a tensor with graph in its attribute
"""A recurrent memory whose state is set by the trainer and faded by the memory itself."""
import torch
from torch import nn

torch.manual_seed(0)


class Memory:
    def __init__(self, size):
        self.state = torch.zeros(size)

    def fade(self):
        self.state.data.mul_(0.5)


class Trainer:
    def __init__(self):
        self.cell = nn.Linear(3, 3)
        self.memory = Memory(3)

    def run(self, inputs):
        for x in inputs:
            self.memory.state = self.cell(x) + self.memory.state
        self.memory.fade()
        return self.memory.state.sum()


trainer = Trainer()
loss = trainer.run(torch.randn(3, 3))
loss.backward()
print(round(loss.item(), 5), [round(v, 4) for v in trainer.cell.bias.grad.tolist()])
