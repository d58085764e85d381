# attacks: TPL104
# promise: what has a `data` with a `numpy` is a tensor
"""Search results carry their vector in `data`."""
import numpy as np
import torch
from search import nearest

torch.manual_seed(0)
library = torch.randn(6, 3)
best = nearest(library, torch.ones(3), 2)
print([hit.rank for hit in best], [round(hit.score, 4) for hit in best])
print(np.stack([hit.data.numpy() for hit in best]).round(4).tolist())
