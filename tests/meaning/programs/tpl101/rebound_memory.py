# attacks: TPL101
# promise: neither name is given other memory by `.data =`
import torch
from torch.autograd import Variable

torch.manual_seed(0)
template = torch.ones(3)
slots = [Variable(template), Variable(template)]
first, second = Variable(template), Variable(template)
first.data = torch.arange(4.0)
second.set_(torch.full((2,), 7.0))
print(template.tolist(), first.tolist(), second.tolist(), slots[0] is slots[1])
