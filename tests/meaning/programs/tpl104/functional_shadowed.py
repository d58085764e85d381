# attacks: TPL104
# promise: the name of torch's functions is that of something else here
import types

import torch
import torch.nn.functional as F

Reading = types.SimpleNamespace


def measure(F, x):
    out = F.softmax(x, dim=0)
    return out.data.tolist()


class Instrument:
    def softmax(self, x, dim):
        return Reading(data=x.softmax(dim), unit="mV")


x = torch.zeros(2)
print(measure(Instrument(), x), measure(F, x))
F = Instrument()
print(F.softmax(x, 0).data.tolist())
torch = types.SimpleNamespace(relu=lambda x: Reading(data=x.relu()))
out = torch.relu(x)
print(out.data.numpy())
