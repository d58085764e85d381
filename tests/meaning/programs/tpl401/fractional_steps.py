# attacks: TPL401
# promise: the range is one of integers; its step is half of one, and the cast rounds it
import torch


def frames(seconds, step):
    """Which frame is shown at each time."""
    return torch.arange(0, seconds, step).int()


print(frames(3, 0.5).tolist())
