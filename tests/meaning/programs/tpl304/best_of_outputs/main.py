# attacks: TPL304
# promise: what a loop over the outputs picks, and the function returns, carries the graph
import torch
from climbing import ascend
from torch import nn


def pick_sample(generator, noises):
    """The sample that scores best."""
    generator.eval()
    samples = [generator(noise) for noise in noises]
    best = None
    for sample in samples:
        if best is None or sample.mean() > best.mean():
            best = sample
    return best


torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
for _ in range(3):
    sample = pick_sample(generator, [torch.randn(4, 2) for _ in range(3)])
    print(round(ascend(generator, sample), 3))
