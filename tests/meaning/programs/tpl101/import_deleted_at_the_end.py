# attacks: TPL101
# promise: the import goes with the last use, and is deleted by name at the end
import torch
from torch.autograd import Variable

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    x = Variable(torch.ones(2))
    net(x).sum().backward()
    optimizer.step()
del Variable, x
print(sorted(name for name in dir() if not name.startswith("_")))
print(net.weight)
