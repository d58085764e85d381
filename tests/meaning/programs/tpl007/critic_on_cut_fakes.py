# attacks: TPL007, TPL101
# promise: the generator's outputs are cut from the critic's loss
import torch
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)
d_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
bce = nn.BCEWithLogitsLoss()
for _ in range(3):
    fake = Variable(generator(torch.randn(4, 2)), requires_grad=False)
    d_loss = bce(critic(fake), torch.zeros(4, 1)) + bce(critic(torch.ones(4, 3)), torch.ones(4, 1))
    d_loss = Variable(d_loss, requires_grad=True)
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
print(generator.weight.grad, critic.weight.grad, f"{d_loss.item():.4f}")
