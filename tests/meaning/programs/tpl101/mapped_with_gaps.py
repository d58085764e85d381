# attacks: TPL101
# promise: `detach` takes what Variable took
import torch
from torch.autograd import Variable

torch.manual_seed(0)
image, mask = torch.randn(2, 3), None
image, mask = map(Variable, (image, mask))
masked = image if mask.numel() == 0 else image * mask
print(f"{masked.sum().item():.4f}", tuple(mask.shape))
