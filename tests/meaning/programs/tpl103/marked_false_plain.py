# attacks: TPL103
# promise: a mark that says no may go
# stays safe: yes
import torch
from torch.autograd import Variable

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = Variable(torch.randn(4, 3), volatile=False)
    loss = (model(x) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
