# attacks: TPL104
# promise: an argument that is annotated as a tensor of torch is one
# stays safe: yes
"""A plotting helper with annotations."""
import numpy as np
import torch
from torch import Tensor, nn

torch.manual_seed(0)


def to_image(x: Tensor, scale: float = 255.0) -> np.ndarray:
    array = x.data.cpu().numpy()
    return np.clip(array * scale, 0, 255).astype(np.uint8)


def to_rows(x: torch.Tensor) -> list:
    return x.squeeze(0).data.tolist()


net = nn.Conv2d(1, 1, 3)
out = torch.sigmoid(net(torch.randn(1, 1, 5, 5)))
print(to_image(out).tolist())
print(len(to_rows(out)))
