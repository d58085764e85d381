# attacks: TPL001
# promise: the object of a with statement computes the loss when it is entered, and goes back when it is left
import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)


class Step:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.loss = head(torch.tanh(body(self.x))).pow(2).mean()
        return self.loss.item()

    def __exit__(self, *error):
        self.loss.backward()


with Step(torch.ones(4, 2)) as value:
    print(round(value, 4))
    head.weight.data.mul_(0.5)
print([round(v, 4) for v in body.bias.grad.tolist()])
