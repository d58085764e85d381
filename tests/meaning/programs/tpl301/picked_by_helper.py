# attacks: TPL301
# promise: the class does nothing with the dict that a module dict cannot; a method that is given it calls `get`
import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(3, 3)
        self.heads = {"a": nn.Linear(3, 1), "b": nn.Linear(3, 2)}

    def _head(self, heads, task):
        return heads.get(task, self.shared)

    def forward(self, x, task):
        return self._head(self.heads, task)(self.shared(x))


torch.manual_seed(0)
net = MultiTask()
for task in ("a", "b", "c"):
    print(task, tuple(net(torch.ones(1, 3), task).shape))
