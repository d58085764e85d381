# attacks: TPL101
# promise: a leaf made of `.data` may share the version counter
import torch
from torch.autograd import Variable

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
loss = (w.exp() * w).sum()
fast = Variable(w.data, requires_grad=True)
inner = (fast - 1).pow(2).sum()
inner.backward()
with torch.no_grad():
    fast -= 0.1 * fast.grad
loss.backward()
print([f"{value:.4f}" for value in w.grad.tolist()], [f"{value:.4f}" for value in fast.tolist()])
