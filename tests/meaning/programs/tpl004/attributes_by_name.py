# attacks: TPL004
# promise: the flag of the sum is read by a name that is computed
import operator
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for i in range(3):
    x = torch.ones(2, 3) * i
    loss = nn.functional.mse_loss(model(x), torch.zeros(2, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss
for name in ("shape", "dtype", "requires_grad", "is_leaf"):
    print(name, operator.attrgetter(name)(total), getattr(total, name))
