# attacks: TPL009
# promise: a list of parameters with such a name is a copy of values
import torch
from torch import nn

torch.manual_seed(0)
learner = nn.Linear(2, 1)
meta = torch.optim.SGD(learner.parameters(), lr=0.1)
init_params = list(learner.parameters())
for task in range(3):
    x = torch.randn(6, 2)
    y = x.sum(1, keepdim=True) * (task + 1)
    inner = nn.functional.mse_loss(learner(x), y)
    grads = torch.autograd.grad(inner, init_params, create_graph=True)
    weight, bias = [p - 0.1 * g for p, g in zip(init_params, grads)]
    outer = nn.functional.mse_loss(nn.functional.linear(x, weight, bias), y)
    meta.zero_grad()
    outer.backward()
    meta.step()
    print(task, round(outer.item(), 5))
