# attacks: TPL001
# promise: a log of the file keeps what it is given by an operator
import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)


class Log:
    def __init__(self):
        self.rows = {}

    def __lshift__(self, value):
        self.rows[len(self.rows)] = value
        return self

    def __getitem__(self, index):
        return self.rows[index]


log = Log()
log << head(torch.tanh(body(torch.ones(1, 2)))).sum()
head.weight.data.fill_(1.0)
log[0].backward()
print([round(v, 4) for v in body.bias.grad.tolist()])
