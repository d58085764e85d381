# attacks: TPL001
# promise: a class keeps the last prediction
import torch
import torch.nn as nn

torch.manual_seed(0)


class Tracker:
    last = None

    @classmethod
    def see(cls, value):
        cls.last = value
        return value.item()


first, second = nn.Linear(2, 3), nn.Linear(3, 1)
print(round(Tracker.see(second(torch.sigmoid(first(torch.ones(1, 2))))), 4))
second.weight.data.zero_()
Tracker.last.backward()
print([round(v, 4) for v in first.bias.grad.tolist()])
