# attacks: TPL001
# promise: a generator that is sent values holds the forward pass
import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)


def trainer():
    target = None
    while True:
        out = head(torch.tanh(body(torch.ones(4, 2)))) if target is None else out
        target = yield round(out.sum().item(), 4)
        if target is not None:
            (out - target).pow(2).mean().backward()


run = trainer()
print(next(run))
head.weight.data.fill_(0.5)
print(run.send(1.0), [round(v, 4) for v in body.bias.grad.tolist()])
