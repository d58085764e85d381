# attacks: TPL103
# promise: the flag that is dropped does nothing when it is evaluated
import torch
from torch.autograd import Variable

torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
modes = [True, False, True]
with torch.no_grad():
    for x in torch.randn(3, 1, 3):
        out = model(Variable(x, volatile=modes.pop()))
        print(out.argmax().item(), len(modes))
