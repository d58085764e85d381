# attacks: TPL207
# promise: nothing but a tensor has `detach`; these boxes have, and no `clone`
import torch
from boxes import load


def areas(name):
    boxes = load(name)
    corners = torch.tensor(boxes.detach())
    return (corners[:, 2:] - corners[:, :2]).prod(1)


print(areas("demo").tolist())
