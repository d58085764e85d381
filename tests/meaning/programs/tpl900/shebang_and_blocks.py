#!/usr/bin/env python  # noqa: TPL005
# attacks: TPL900
# promise: no block is left empty, and no statement joined with another
# stays safe: yes
import torch

torch.manual_seed(0)


def warm_up(steps):  # noqa: TPL015
    # noqa: TPL016
    for step in range(steps):  # noqa: TPL001 the first steps are slow
        pass  # noqa: TPL004
    else:  # noqa: TPL002
        step = -step
        # noqa: TPL013
    return step


value = torch.tensor(  # noqa: TPL105
    [1.0, 2.0],  # noqa: TPL207, W291
)
print(warm_up(3), value.tolist(), \
      value.sum().item())  # noqa: TPL102
