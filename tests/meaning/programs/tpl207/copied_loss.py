# attacks: TPL207
# promise: the copy of a loss is the same number, and cut from the graph
# stays safe: yes
import torch
from torch.nn import functional as F

torch.manual_seed(0)
w = torch.randn(3, 2, requires_grad=True)
history = []
for step in range(3):
    loss = F.cross_entropy(torch.ones(4, 3) @ w, torch.tensor([0, 1, 1, 1]))
    history.append(torch.tensor(loss))
    loss.backward()
    with torch.no_grad():
        w -= w.grad
        w.grad.zero_()
print([round(v.item(), 4) for v in history], [v.requires_grad for v in history])
