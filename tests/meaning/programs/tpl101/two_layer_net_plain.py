# attacks: TPL101
# promise: leaves that are made on the spot stay leaves
# stays safe: yes
import torch
from torch.autograd import Variable

torch.manual_seed(0)
x, y = Variable(torch.randn(6, 4)), Variable(torch.randn(6, 2), requires_grad=False)
w1 = Variable(torch.randn(4, 5), requires_grad=True)
w2 = Variable(torch.randn(5, 2), requires_grad=True)
for step in range(4):
    loss = (x.mm(w1).clamp(min=0).mm(w2) - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2):
            w -= 1e-3 * w.grad
            w.grad.zero_()
print(f"{loss.item():.4f}", w1.is_leaf, w1.requires_grad)
