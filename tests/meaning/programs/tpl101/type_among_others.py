# attacks: TPL101
# promise: a type that is looked up among others is found as before
import torch
from torch.autograd import Variable

torch.manual_seed(0)


def size_of(batch):
    if type(batch) in (list, tuple, Variable):
        return len(batch)
    return batch.numel() if isinstance(batch, torch.Tensor) else 1


print([size_of(batch) for batch in (torch.zeros(2, 3), [1, 2, 3], 7, torch.ones(4))])
print("wrapped" if type(torch.ones(1)) is not Variable else "bare")
