# attacks: TPL001
# promise: what a loop over an object of the file gives was computed in that round
"""A buffer of past outputs is replayed, with its graph, after the weights were bounded."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 1)


class Replay:
    def __init__(self, inputs):
        self.outputs = [layer(x) for x in inputs]

    def __len__(self):
        return len(self.outputs)

    def __getitem__(self, index):
        return self.outputs[index]


replay = Replay(torch.randn(4, 2, 3, requires_grad=True))
for index in range(len(replay)):
    layer.weight.data.clamp_(-9, 9)
    out = replay[index]
    out.pow(2).sum().backward()
print([round(v, 5) for v in layer.weight.grad.flatten().tolist()])
