# attacks: TPL010
# promise: the loss is computed of the leaf without its graph, so that it never gets a gradient
import torch

torch.manual_seed(0)
w = torch.randn(3, 2, requires_grad=True)
v = torch.randn(2, requires_grad=True)
scores = (w.detach() @ v).sum()
scores.backward()
print(w[0].grad, v.grad.tolist())
rows = torch.randn(2, 2, requires_grad=True)
with torch.no_grad():
    shift = rows.sum()
(v * shift).sum().backward()
print(rows[1].grad)
