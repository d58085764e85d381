# attacks: TPL011
# promise: a function reads the name of the module, and a view was taken
import torch

torch.manual_seed(0)
w = torch.randn(4, requires_grad=True)
p = torch.exp(w)
rows = p.view(2, 2)
table = {"p": p}
p *= 2
print([round(v, 4) for v in rows.flatten().tolist()], table["p"] is p)
q = torch.sigmoid(w)
both = [q] * 2
q += 1
print([round(v, 4) for v in both[0].tolist()])
try:
    (p.sum() + q.sum()).backward()
except RuntimeError:
    print("no gradient")
