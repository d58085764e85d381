# attacks: TPL401
# promise: full_like cuts the value to the dtype of the labels before the cast
import torch
import torch.nn.functional as F

torch.manual_seed(0)
logits = torch.randn(4, 3)
labels = torch.tensor([0, 2, 1, 1])
padding = torch.tensor([True, False, False, True])

smoothing = torch.full_like(labels, 0.9).float()
boost = torch.full_like(padding, 5).float()
floor = labels.new_full((4,), 2.5).float()
losses = F.cross_entropy(logits, labels, reduction="none")
print([round(v, 4) for v in (losses * smoothing).tolist()])
print(boost.tolist(), floor.tolist())
