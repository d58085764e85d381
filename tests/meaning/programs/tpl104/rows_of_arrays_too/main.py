# attacks: TPL104
# promise: the calls in the file are all the calls that there are
"""A table printer takes whatever has a buffer: tensors, and arrays of numpy."""
import numpy as np
import torch
from printing import rows

torch.manual_seed(0)
print(rows(torch.tensor([[1, 2], [3, 4]])))
print(rows(np.array([[5, 6], [7, 8]])))
