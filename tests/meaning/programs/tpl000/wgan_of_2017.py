# attacks: TPL001, TPL002, TPL101
# promise: all safe fixes together leave the clipping and the switched flags of a WGAN as they were
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(6)
netG = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 3))
netD = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
optD = torch.optim.RMSprop(netD.parameters(), lr=5e-3)
optG = torch.optim.RMSprop(netG.parameters(), lr=5e-3)
one, mone = torch.tensor([1.0]), torch.tensor([-1.0])
inputs, noise = torch.empty(8, 3), torch.empty(8, 2)

for iteration in range(3):
    for p in netD.parameters():
        p.requires_grad = True
    for _ in range(2):
        for p in netD.parameters():
            p.data.clamp_(-0.05, 0.05)
        netD.zero_grad()
        inputs.resize_(8, 3).copy_(torch.randn(8, 3) + 1)
        inputv = Variable(inputs)
        errD_real = netD(inputv).mean(0).view(1)
        errD_real.backward(one)
        noise.resize_(8, 2).normal_(0, 1)
        noisev = Variable(noise)
        fake = Variable(netG(noisev).data)
        inputv = fake
        errD_fake = netD(inputv).mean(0).view(1)
        errD_fake.backward(mone)
        errD = errD_real - errD_fake
        optD.step()
    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    noise.normal_(0, 1)
    fake = netG(Variable(noise))
    errG = netD(fake).mean(0).view(1)
    errG.backward(one)
    optG.step()
    print(iteration, round(errD.data[0].item(), 6), round(errG.data[0].item(), 6), noisev is noise)
    print(netD[0].weight.requires_grad, round(netD[0].weight.data.abs().max().item(), 5), fake.requires_grad)
