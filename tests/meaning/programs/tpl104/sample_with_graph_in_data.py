# attacks: TPL104
# promise: a `.data` in front of the move has taken the value out of the graph
"""A reparametrised sample keeps its value, with graph, in `data`; a plot gets the detached copy."""
from dataclasses import dataclass

import torch

torch.manual_seed(0)


@dataclass
class Sample:
    data: torch.Tensor
    entropy: float


mean = torch.zeros(3, requires_grad=True)


def draw():
    return Sample(mean + torch.randn(3), 4.2568)


sample = draw()
array = sample.data.cpu().data.numpy()
sample.data.pow(2).sum().backward()
print([round(float(v), 5) for v in array], [round(v, 5) for v in mean.grad.tolist()])
