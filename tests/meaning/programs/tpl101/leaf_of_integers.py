# attacks: TPL101
# promise: integers cannot require a gradient, and the text of the error is printed
import torch
from torch.autograd import Variable

try:
    v = Variable(torch.ones(2).long(), requires_grad=True)
except RuntimeError as error:
    print(error)
