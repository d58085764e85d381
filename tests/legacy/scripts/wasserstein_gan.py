"""A Wasserstein GAN that learns a ring of points."""
from __future__ import print_function
import math
import torch
import torch.nn as nn
import torch.optim as optim
from torch.autograd import Variable

torch.manual_seed(3)
batch_size, nz = 16, 4


# custom weights initialization called on netG and netD
def weights_init(m):
    classname = m.__class__.__name__
    if classname.find('Linear') != -1:
        m.weight.data.normal_(0.0, 0.2)
        m.bias.data.fill_(0)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.main = nn.Sequential(nn.Linear(nz, 16), nn.ReLU(True), nn.Linear(16, 2))

    def forward(self, input):
        return self.main(input)


class Critic(nn.Module):
    def __init__(self):
        super(Critic, self).__init__()
        self.main = nn.Sequential(nn.Linear(2, 16), nn.ReLU(True), nn.Linear(16, 1))

    def forward(self, input):
        if isinstance(input.data, torch.cuda.FloatTensor):
            raise RuntimeError('made for the CPU')
        output = self.main(input)
        output = output.mean(0)
        return output.view(1)


netG, netD = Generator(), Critic()
netG.apply(weights_init)
netD.apply(weights_init)

input = torch.FloatTensor(batch_size, 2)
noise = torch.FloatTensor(batch_size, nz)
fixed_noise = torch.FloatTensor(batch_size, nz).normal_(0, 1)
one = torch.FloatTensor([1])
mone = one * -1
optimizerD = optim.RMSprop(netD.parameters(), lr=0.005)
optimizerG = optim.RMSprop(netG.parameters(), lr=0.005)
history, graphs = [], []


def ring(step):
    angles = torch.FloatTensor([2 * math.pi * (step * batch_size + i) / 37 for i in range(batch_size)])
    return torch.stack([torch.cos(angles), torch.sin(angles)], 1)


for gen_iterations in range(6):
    for p in netD.parameters():  # reset requires_grad
        p.requires_grad = True  # they are set to False below in netG update
    for j in range(3):
        # clamp parameters to a cube
        for p in netD.parameters():
            p.data.clamp_(-0.1, 0.1)
        netD.zero_grad()
        # train with real
        input.resize_as_(ring(j)).copy_(ring(j))
        inputv = Variable(input)
        errD_real = netD(inputv)
        errD_real.backward(one)

        # train with fake
        noise.resize_(batch_size, nz).normal_(0, 1)
        noisev = Variable(noise, volatile=True)  # totally freeze netG
        samples = netG(noisev)
        graphs.append(samples.grad_fn is not None)
        fake = Variable(samples.data)
        inputv = fake
        errD_fake = netD(inputv)
        errD_fake.backward(mone)
        errD = errD_real - errD_fake
        optimizerD.step()

    for p in netD.parameters():
        p.requires_grad = False  # to avoid computation
    netG.zero_grad()
    noise.resize_(batch_size, nz).normal_(0, 1)
    noisev = Variable(noise)
    fake = netG(noisev)
    errG = netD(fake)
    errG.backward(one)
    optimizerG.step()
    print('[%d] Loss_D: %f Loss_G: %f Loss_D_real: %f Loss_D_fake %f'
          % (gen_iterations, errD.data[0], errG.data[0], errD_real.data[0], errD_fake.data[0]))
    history += [float(errD.data[0]), float(errG.data[0])]

fake = netG(Variable(fixed_noise, volatile=True))
graphs.append(fake.grad_fn is not None)
history.append(float(fake.data.sum()))
