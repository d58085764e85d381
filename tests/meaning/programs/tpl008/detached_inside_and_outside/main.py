# attacks: TPL008, TPL002
# promise: what a helper is given shares its memory as before
"""A normaliser of a library changes what it is given; the caller counts on it."""
import torch
from normal import standardise

torch.manual_seed(0)
w = torch.randn(4, requires_grad=True)
y = w * 2
returned = standardise(y)
loss = (y * torch.arange(4.0)).sum()
loss.backward()
print([round(v, 4) for v in returned.tolist()], [round(v, 4) for v in y.tolist()])
print(w.grad.tolist(), returned.data_ptr() == y.data_ptr())
