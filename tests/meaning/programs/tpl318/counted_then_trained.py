# attacks: TPL318
# promise: what counts the parameters leaves the optimizer the same ones
# shows: the optimizer raises, as it is given none
# stays safe: yes
import torch
from torch import nn


def prepare(model: nn.Module):
    params = filter(lambda p: p.requires_grad, model.parameters())
    print("trained:", sum(p.numel() for p in params))
    return torch.optim.SGD(params, lr=0.1)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
net[0].requires_grad_(False)
optimizer = prepare(net)
net(torch.ones(2, 4)).sum().backward()
optimizer.step()
print(net[0].weight.grad is None, round(net[1].bias.item(), 4))
