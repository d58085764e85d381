# attacks: TPL105
# promise: what follows the default device and copies need not be safe
import numpy as np
import torch

torch.manual_seed(0)
table = np.zeros(3, dtype=np.float32)
tensor = torch.FloatTensor(table)
table[0] = 5
hidden = torch.randn(2, 3)
state = hidden.new(2, 3).zero_()
labels = torch.Tensor(torch.tensor([1, 2]))
print(tensor.tolist(), state.sum().item(), labels.dtype)
