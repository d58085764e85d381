# attacks: TPL101
# promise: noise and labels are wrapped
# stays safe: yes
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))
critic = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
criterion = nn.BCELoss()
for _ in range(2):
    noise = Variable(torch.randn(4, 2))
    label = Variable(torch.ones(4, 1))
    loss = criterion(critic(generator(noise)), label)
    generator.zero_grad()
    loss.backward()
    print(round(loss.item(), 4), round(generator[0].weight.grad.norm().item(), 4))
