# attacks: TPL006
# promise: a class of another file gives the flag of its modules no meaning
import torch

from towers import Tower

torch.manual_seed(0)
tower = Tower(3)
tower.requires_grad = False
optimizer = torch.optim.SGD(tower.parameters(), lr=0.2)
x = torch.randn(6, 3)
for _ in range(2):
    optimizer.zero_grad()
    tower(x).pow(2).mean().backward()
    optimizer.step()
print(tower.log)
print([(n, p.requires_grad) for n, p in tower.named_parameters()])
print([round(v, 5) for v in tower.adapter.weight.detach().flatten().tolist()])
