# attacks: TPL006
# promise: a flag that froze nothing may freeze from now on
import torch
from torch import nn

torch.manual_seed(0)
netG, netD = nn.Linear(2, 3), nn.Linear(3, 1)
optG = torch.optim.SGD(netG.parameters(), lr=0.1)
optD = torch.optim.SGD(netD.parameters(), lr=0.1)
bce = nn.BCEWithLogitsLoss()
for step in range(3):
    real, noise = torch.randn(6, 3) + 2, torch.randn(6, 2)
    optD.zero_grad()
    lossD = bce(netD(real), torch.ones(6, 1)) + bce(netD(netG(noise).detach()), torch.zeros(6, 1))
    lossD.backward()
    optD.step()

    netD.requires_grad = False
    optG.zero_grad()
    lossG = bce(netD(netG(noise)), torch.ones(6, 1))
    lossG.backward()
    optG.step()
    print(step, round(lossD.item(), 5), round(lossG.item(), 5))
