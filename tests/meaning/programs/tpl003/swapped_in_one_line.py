# attacks: TPL003, TPL002
# promise: the reads on the line of an assignment to .data are reads alone
"""Two networks exchange their weights, as population-based training does."""
import torch
from torch import nn

torch.manual_seed(0)
one, other = nn.Linear(2, 2), nn.Linear(2, 2)
before = [p.sum().item() for p in (*one.parameters(), *other.parameters())]
for p, q in zip(one.parameters(), other.parameters()):
    p.data, q.data = q.data, p.data
after = [p.sum().item() for p in (*other.parameters(), *one.parameters())]
print(before == after)
one(torch.ones(1, 2)).sum().backward()
with torch.no_grad():
    one.weight.mul_(2)
print([round(p.sum().item(), 5) for p in (*one.parameters(), *other.parameters())])
