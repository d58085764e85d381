# attacks: TPL103
# promise: a mark that stands under `no_grad` already may go
# stays safe: yes
import torch
from torch.autograd import Variable

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
correct = 0
with torch.no_grad():
    for x, y in zip(torch.randn(5, 1, 4), torch.randint(0, 2, (5, 1))):
        out = model(Variable(x, volatile=True))
        correct += (out.argmax(dim=1) == y).sum().item()
print(correct, out.requires_grad)
