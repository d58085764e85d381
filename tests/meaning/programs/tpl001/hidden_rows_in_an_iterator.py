# attacks: TPL001
# promise: the iterator of an object runs on between the changes
import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)


class Rollout:
    def __init__(self, states):
        self.states = states

    def __iter__(self):
        for state in self.states:
            value = head(torch.tanh(body(state)))
            yield round(value.item(), 4)
            value.sum().backward()


for seen in Rollout(torch.randn(3, 1, 2)):
    print(seen)
    head.weight.data.mul_(0.9)
print([round(v, 4) for v in body.bias.grad.tolist()])
