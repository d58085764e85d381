# attacks: TPL102
# promise: what begins like a loss is one
import torch
from codec import encode

torch.manual_seed(0)
frame = (torch.rand(6, requires_grad=True) * 9).round()
lossless = encode(frame)
print(lossless.data[0], len(lossless.data), lossless.ratio)
frame.sum().backward()
