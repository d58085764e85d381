# attacks: TPL101
# promise: the flag is a bool
import argparse

import torch
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--saliency", type=int, default=1)
options = parser.parse_args([])
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
data = torch.randn(4, 3)
x = Variable(data, requires_grad=options.saliency)
model(x).sum().backward()
print(x.grad[0].tolist() == model.weight[0].tolist(), data.requires_grad)
