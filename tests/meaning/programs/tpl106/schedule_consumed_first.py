# attacks: TPL106
# promise: the arguments of a call have no effects on each other
import torch

torch.manual_seed(0)


class Schedule:
    def __init__(self, rate):
        self.rate = rate

    def step(self):
        self.rate *= 0.5
        return -self.rate

    def scaled(self, gradient):
        return gradient * (1 + self.rate)


schedule = Schedule(0.8)
weight = torch.randn(3)
for _ in range(3):
    gradient = weight - 1
    weight.add_(schedule.step(), schedule.scaled(gradient))
    print([round(v, 5) for v in weight.tolist()])
