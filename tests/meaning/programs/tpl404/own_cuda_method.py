# attacks: TPL404
# promise: `.cuda()` moves to a GPU; this class's does where there is one
import time

import torch
from torch import nn


class Batch:
    """Inputs that go to the GPU only if there is one."""

    def __init__(self, x):
        self.x = x

    def cuda(self):
        return Batch(self.x.to("cuda" if torch.cuda.is_available() else "cpu"))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, batch):
        return self.fc(batch.x)


def speed(net, batch):
    batch = batch.cuda()
    start = time.perf_counter()
    y = net(batch)
    return y, time.perf_counter() - start


torch.manual_seed(0)
y, seconds = speed(Net(), Batch(torch.ones(1, 3)))
print(round(y.sum().item(), 4), seconds < 60)
