# attacks: TPL013
# promise: the state carries a graph over the steps
import torch
from torch import nn
torch.manual_seed(0)
enc, dec = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)), nn.Linear(2, 1)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
x = torch.ones(4, 2)
state = torch.zeros(4, 2)
total = 0
for k in range(3):
    state = enc(x + state)
    loss = dec(state).pow(2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step
    total += loss.item()
print(total)
