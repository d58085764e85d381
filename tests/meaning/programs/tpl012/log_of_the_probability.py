# attacks: TPL012
# promise: what `log` is given is written to a log
import torch
from torch import log, nn

torch.manual_seed(0)
netG, netD = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
optG = torch.optim.SGD(netG.parameters(), lr=0.05)
optD = torch.optim.SGD(netD.parameters(), lr=0.05)
for step in range(3):
    fake = netG(torch.randn(5, 2))
    score = netD(fake)
    d_loss = -torch.log(1 - score).mean()
    optD.zero_grad()
    d_loss.backward(retain_graph=True)
    g_loss = -log(score).mean()
    optG.zero_grad()
    g_loss.backward()
    optG.step()
    print(step, round(d_loss.item(), 5), round(g_loss.item(), 5))

weight = torch.ones(2, requires_grad=True)
for step in range(2):
    loss = (weight * torch.randn(2)).pow(2).sum()
    loss.backward(retain_graph=True)
print([round(v, 5) for v in weight.grad.tolist()])
