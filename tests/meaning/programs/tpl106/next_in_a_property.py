# attacks: TPL106
# promise: the AttributeError of a property says that there is no such attribute: to `hasattr`, `getattr`, `__getattr__`
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(4.0)), batch_size=2)


class Bench:
    @property
    def sample(self):
        return self.first()[0]

    def first(self):
        return iter(loader).next()


class Fallback:
    @property
    def sample(self):
        return iter(loader).next()

    def __getattr__(self, name):
        return f"no {name}"


print(hasattr(Bench(), "sample"), getattr(Bench(), "sample", torch.zeros(2)), Fallback().sample)
