# attacks: TPL401
# promise: a constant fits the dtype that it is cast to; this one is meant to overflow
import torch


def mix(keys):
    state = torch.full((len(keys),), 2654435769).int()
    for shift in (13, 7):
        state = state ^ (keys.int() << shift)
    return state.tolist()


print(mix(torch.arange(3)))
