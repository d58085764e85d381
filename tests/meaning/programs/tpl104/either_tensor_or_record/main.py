# attacks: TPL104
# promise: a value that is a tensor on one path is one on all
"""Targets are drawn, or come from an annotated record."""
import torch
from records import annotated

torch.manual_seed(0)


def targets(path=None):
    found = torch.ones(3)
    if path is not None:
        found = annotated(path)
    array = found.data.numpy()
    return array.tolist(), type(found).__name__


print(targets())
print(targets("labels.txt"))
