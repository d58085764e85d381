# attacks: TPL103
# promise: with both flags true Variable raises, and the code decides by the error
import torch
from torch.autograd import Variable


def wrap(flag):
    with torch.no_grad():
        try:
            return Variable(torch.ones(2), requires_grad=flag, volatile=True)
        except ValueError:
            return None


print(wrap(True), wrap(False))
