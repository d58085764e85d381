# attacks: TPL001
# promise: functions made in a loop hold terms of a loss
import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(3, 3, bias=False)
terms = {}


def remember(name, scale):
    value = (layer.weight @ layer.weight.t()).pow(2).sum() * scale

    def read():
        return value

    terms[name] = read


remember("orthogonal", 0.1)
layer.weight.data.add_(torch.eye(3))
sum(read() for read in terms.values()).backward()
print([round(v, 4) for v in layer.weight.grad.flatten().tolist()])
