# attacks: TPL106
# promise: a mock stands in for the function while the test runs
from unittest import mock

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Gate(nn.Module):
    def forward(self, x: torch.Tensor):
        return F.sigmoid(x) * F.tanh(x)


with mock.patch.object(F, "sigmoid", side_effect=torch.ones_like) as spy:
    print(Gate()(torch.zeros(2) + 0.5).tolist())
print(spy.call_count)
