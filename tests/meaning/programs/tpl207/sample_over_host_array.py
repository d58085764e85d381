# attacks: TPL207
# promise: a factory that shares the memory of an array is copied all the same
import numpy as np
import torch

ring = np.zeros(4, dtype=np.float32)
frames = []
for step in range(3):
    ring[:] = np.roll(ring, 1)
    ring[0] = step + 1
    frames.append(torch.tensor(torch.from_numpy(ring)))
print([frame.tolist() for frame in frames])

scratch = torch.empty(3)
sums = []
for shift in range(3):
    sums.append(torch.tensor(torch.add(torch.arange(3.0), shift, out=scratch)))
print([one.tolist() for one in sums])
view = torch.tensor(torch.as_tensor(ring))
ring.fill(9)
print(view.tolist())
