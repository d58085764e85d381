# attacks: TPL104
# promise: behind a test for a tensor there is a tensor
# stays safe: yes
"""Turns whatever a metric gets into an array."""
import numpy as np
import torch

torch.manual_seed(0)


def as_array(x):
    if isinstance(x, torch.Tensor):
        return x.data.cpu().numpy()
    return np.asarray(x)


w = torch.randn(3, requires_grad=True)
print([as_array(v).round(4).tolist() for v in (w * 2, [1.0, 2.0], np.ones(2), w)])
