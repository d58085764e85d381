# attacks: TPL104
# promise: what the file does not show and whose `data` has a `numpy` is a tensor
"""The channel means of a stored split."""
import torch
from splits import open_split

torch.manual_seed(0)
digits = open_split("train")
means = digits.data.numpy().mean((0, 2, 3))
print(len(digits), [round(float(m), 4) for m in means])
x, y = digits[0]
print(tuple(x.shape), y)
