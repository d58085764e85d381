# attacks: TPL207
# promise: what a function of torch made is nobody else's; `from_numpy` and `as_tensor` share an array
import numpy as np
import torch


class Trace:
    """A buffer that a driver fills again and again."""

    def __init__(self, size):
        self.buffer = np.zeros(size)

    def snapshot(self):
        return torch.tensor(torch.from_numpy(self.buffer)), torch.tensor(torch.as_tensor(self.buffer))


trace = Trace(3)
shots = []
for step in range(2):
    trace.buffer[:] = step + 1
    shots.append(trace.snapshot())
print([[part.tolist() for part in shot] for shot in shots])
