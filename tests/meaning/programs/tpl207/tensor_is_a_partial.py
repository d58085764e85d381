# attacks: TPL207
# promise: the program makes all its tensors by a function of its own under the name of torch's
import functools

import torch

make = functools.partial(torch.tensor, dtype=torch.float64)
torch.tensor = make
scores = torch.linspace(0, 1, 3)
copied = torch.tensor(scores)
print(copied.dtype, scores.dtype, (copied / 3).tolist())
