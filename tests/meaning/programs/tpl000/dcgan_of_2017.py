# attacks: TPL001, TPL002, TPL101, TPL106
# promise: all safe fixes together leave a GAN with shared graphs as it was
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import log
from torch.autograd import Variable

torch.manual_seed(2)


def weights_init(m):
    if m.__class__.__name__.find("Linear") != -1:
        m.weight.data.normal_(0.0, 0.2)
        m.bias.data.fill_(0)


netG = nn.Sequential(nn.Linear(2, 8), nn.ReLU(True), nn.Linear(8, 3))
netD = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 1))
netG.apply(weights_init)
netD.apply(weights_init)
optimizerD = torch.optim.Adam(netD.parameters(), lr=0.01, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=0.01, betas=(0.5, 0.999))
noise = torch.FloatTensor(6, 2)
errD_total = 0

for i in range(4):
    netD.zero_grad()
    real = Variable(torch.randn(6, 3) + 2)
    noise.normal_(0, 1)
    fake = netG(Variable(noise))
    score = F.sigmoid(netD(fake))
    errD = -log(F.sigmoid(netD(real))).mean() - log(1 - score).mean()
    errD.backward(retain_graph=True)
    gradients = [p.grad.data.clone() for p in netD.parameters()]
    netG.zero_grad()
    errG = -log(score).mean()
    errG.backward()
    for p, g in zip(netD.parameters(), gradients):
        p.grad.data.copy_(g)
    optimizerD.step()
    optimizerG.step()
    errD_total += errD
    print(i, round(errD.item(), 5), round(errG.data.item(), 5), round(score.data.mean().item(), 5))
print(round(float(errD_total), 5), round(sum(p.data.sum().item() for p in netG.parameters()), 5))
