# attacks: TPL002
# promise: what has a `data` with a tensor-only method is a tensor
"""A pool tells which of its slots share memory by the address of their data."""
import torch
from pool import Slot

torch.manual_seed(0)
base = torch.randn(4)
slots = [Slot("a", base), Slot("b", base), Slot("c", base.clone())]


def same_memory(one, other):
    return one.data.data_ptr() == other.data.data_ptr()


print([[same_memory(one, other) for other in slots] for one in slots])
print([slot.data.numel() for slot in slots], [type(slot).__name__ for slot in slots])
