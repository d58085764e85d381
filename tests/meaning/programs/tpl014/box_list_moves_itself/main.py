# attacks: TPL014
# promise: what has a `size` or a `dim` is a tensor
import torch

from boxes import BoxList, scores

torch.manual_seed(0)
device = torch.device("cpu")
boxes = BoxList(torch.rand(5, 4))
boxes.to(device)
print(boxes.size(0), boxes.numel(), boxes.dim())
print(scores(boxes))
