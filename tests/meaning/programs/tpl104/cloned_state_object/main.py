# attacks: TPL104
# promise: what has a `clone` can be detached
"""A simulation's state is cloned before each snapshot is taken."""
import torch
from simulation import State

torch.manual_seed(0)
state = State(torch.zeros(3))
frames = []
for _ in range(3):
    state.advance(torch.randn(3))
    frames.append(state.clone().data.numpy())
print([[round(float(v), 4) for v in frame] for frame in frames])
print(state.time, type(state).__name__)
