# attacks: TPL106
# promise: the factor in front is worked out first, by a property, a `__getattr__` or a sign that counts
import torch


class Schedule:
    def __init__(self):
        self.n = 0

    @property
    def lr(self):
        self.n += 1
        return -0.1 * self.n

    def __neg__(self):
        self.n += 1
        return -0.5 * self.n


class Options:
    def __init__(self):
        self.k = 0

    def __getattr__(self, name):
        if name == "rate":
            self.k += 1
            return 0.5 * self.k
        raise AttributeError(name)


schedule, options = Schedule(), Options()
weight, gradient = torch.ones(2), torch.ones(2)
weight.add_(schedule.lr, gradient * schedule.n)
print(weight)
weight.add_(-schedule, gradient * schedule.n)
print(weight)
weight.add_(options.rate, gradient * options.k)
print(weight)
