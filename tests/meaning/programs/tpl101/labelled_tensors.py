# attacks: TPL101
# promise: no attribute is put on the wrapped tensor
import torch
from torch.autograd import Variable

torch.manual_seed(0)
pool = [torch.randn(2) for _ in range(4)]
selected = []
for seed in pool[::2]:
    candidate = Variable(seed)
    candidate.origin = "selected"
    candidate.score = seed.norm().item()
    selected.append(candidate)
print([getattr(seed, "origin", "untouched") for seed in pool])
print([f"{candidate.score:.3f}" for candidate in selected])
