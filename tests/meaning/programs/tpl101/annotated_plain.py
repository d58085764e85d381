# attacks: TPL101
# promise: annotations and type tests say the same of the tensor
# stays safe: yes
from typing import Optional

import torch
from torch.autograd import Variable


def masked_mean(values: Variable, mask: Optional[Variable] = None) -> Variable:
    if not isinstance(values, (Variable, torch.Tensor)):
        values = torch.as_tensor(values)
    if mask is None:
        return values.mean()
    return (values * mask).sum() / mask.sum()


torch.manual_seed(0)
print(f"{masked_mean(torch.randn(4)).item():.4f} {masked_mean([1.0, 2.0, 6.0], torch.tensor([1.0, 1.0, 0.0])).item():.4f}")
