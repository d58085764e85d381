# attacks: TPL207
# promise: warnings are errors in this run, and the copy is made another way then
import warnings

import torch

warnings.filterwarnings("error", category=UserWarning)


def detached_copy(value: torch.Tensor):
    try:
        return torch.tensor(value), "copied by torch.tensor"
    except UserWarning:
        return value.detach().clone().double(), "copied by hand"


hidden = torch.arange(4.0, requires_grad=True)
copy_of_it, how = detached_copy(hidden * 2)
print(how, copy_of_it.dtype, copy_of_it.tolist())
