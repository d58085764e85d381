# attacks: TPL101
# promise: a record of the project's own with a `data` is a tensor
from collections import namedtuple
from dataclasses import dataclass

import torch
from torch.autograd import Variable


@dataclass
class Frame:
    data: torch.Tensor
    label: int


Transition = namedtuple("Transition", "data reward")
torch.manual_seed(0)
q = torch.nn.Linear(3, 2)
memory = [Transition(torch.randn(3), float(n)) for n in range(4)]
values = torch.stack([q(Variable(step.data)).max() for step in memory])
print(f"{values.sum().item():.4f}", sum(step.reward for step in memory))
clip = [Frame(torch.ones(3) * n, n) for n in range(2)]
print([f"{q(Variable(frame.data)).sum().item():.4f}" for frame in clip])
