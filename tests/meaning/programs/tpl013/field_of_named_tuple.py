# attacks: TPL013
# promise: an attribute that holds a tensor can be assigned
from typing import NamedTuple

import torch


class Batch(NamedTuple):
    images: torch.Tensor
    labels: torch.Tensor


torch.manual_seed(0)
batch = Batch(torch.randn(2, 3), torch.tensor([0, 1]))
pair = (torch.randn(2), torch.randn(2))
images = batch.images
batch.images.contiguous
pair[0].float
print([round(v, 4) for v in images.flatten().tolist()], round(pair[0].sum().item(), 5), batch.labels.tolist())
