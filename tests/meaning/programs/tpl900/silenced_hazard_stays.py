# attacks: TPL900
# promise: a comment that silences a finding stays, and so does what it is about
import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
y = w * 2
kept = y.data  # noqa: TPL002, TPL104
loss = y.pow(2).sum()
loss.backward()
before = w.detach()  # noqa: TPL009
with torch.no_grad():
    w -= 0.1 * w.grad
print(torch.equal(before, w), kept.requires_grad, [round(v, 5) for v in w.tolist()])
