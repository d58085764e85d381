# attacks: TPL101
# promise: what has a `data` is a tensor
import torch
from digits import Digits
from torch.autograd import Variable

torch.manual_seed(0)
train = Digits(6)
inputs = Variable(train.data)
targets = Variable(train.targets)
model = torch.nn.Linear(4, 3)
loss = torch.nn.functional.cross_entropy(model(inputs), targets)
print(f"{loss.item():.4f}", len(train))
