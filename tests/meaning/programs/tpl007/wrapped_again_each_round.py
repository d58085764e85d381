# attacks: TPL101, TPL007
# promise: a leaf that is made anew in each round is cut from what was computed
import torch
from torch.autograd import Variable

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
dream = Variable(torch.randn(1, 4), requires_grad=True)
for step in range(3):
    (ascent,) = torch.autograd.grad(net(dream)[0, 1], dream)
    surrogate = Variable((net(dream) * 2).sum(), requires_grad=True)
    surrogate.backward()
    dream = Variable(dream.data + 0.1 * ascent, requires_grad=True)
print([f"{value:.4f}" for value in dream.flatten().tolist()], net[0].weight.grad)
