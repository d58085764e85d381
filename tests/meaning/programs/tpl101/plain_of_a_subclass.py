# attacks: TPL101
# promise: what is wrapped is a plain tensor
import torch
from torch.autograd import Variable


class Field(torch.Tensor):
    """A tensor whose sums are weighted."""

    def sum(self, *arguments, **keywords):
        return super().sum(*arguments, **keywords) * 10


torch.manual_seed(0)
field = torch.ones(3).as_subclass(Field)
plain = Variable(field)
parts = list(map(Variable, [field, torch.zeros(2)]))
print(type(plain).__name__, float(plain.sum()), float(field.sum()), [type(part).__name__ for part in parts])
