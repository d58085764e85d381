# attacks: TPL103
# promise: the flag is asked for its truth, which shows
import torch
from torch.autograd import Variable


class Mode:
    def __bool__(self):
        print("asked")
        return True


mode = Mode()
with torch.no_grad():
    x = Variable(torch.ones(2), volatile=not mode)
print(x)
