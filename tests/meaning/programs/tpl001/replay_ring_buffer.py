# attacks: TPL001
# promise: a row that is written was not saved with the rows that were used
"""Replay memory: the batch is a slice of the buffer, new observations go into other rows before the backward."""
import torch
from torch import nn

torch.manual_seed(0)


class Replay:
    def __init__(self, capacity, width):
        self.observations = torch.zeros(capacity, width)
        self.position = 0

    def push(self, observation):
        self.observations.data[self.position] = observation
        self.position = (self.position + 1) % len(self.observations)

    def oldest(self, count):
        return self.observations[:count]


critic = nn.Linear(3, 1)
replay = Replay(8, 3)
for _ in range(4):
    replay.push(torch.randn(3))
value = critic(replay.oldest(4)).pow(2).mean()
replay.push(torch.randn(3))
value.backward()
print("critic", [round(v, 4) for v in critic.weight.grad.flatten().tolist()], replay.position)
