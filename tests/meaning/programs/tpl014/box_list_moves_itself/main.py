# attacks: TPL014
# promise: what has a `size` or a `dim` is a tensor
import torch

import boxes as geometry

torch.manual_seed(0)
device = torch.device("cpu")
make = getattr(geometry, "BoxList")
boxes = make(torch.rand(5, 4))
boxes.to(device)
print(boxes.size(0), boxes.numel(), boxes.dim())
print(geometry.scores(boxes))
