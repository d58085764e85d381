# attacks: TPL101
# promise: under `no_grad` there is no graph that wrapping could cut
import torch
from encoding import encode
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
online = nn.Linear(3, 2)
predictor = nn.Linear(2, 2)
x = torch.randn(5, 3)
code = encode(online, x)
with torch.no_grad():
    goal = Variable(code)
    spread = goal.std().item()
loss = (predictor(code) - goal).pow(2).mean()
loss.backward()
print(f"{spread:.4f} {loss.item():.4f}")
print([f"{value:.4f}" for value in online.weight.grad.flatten().tolist()])
