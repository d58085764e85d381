# attacks: TPL003
# promise: a heap keeps what a backward will go through
import heapq

import torch
import torch.nn as nn

layer = nn.Linear(3, 1)
x = torch.ones(3, requires_grad=True)
waiting = []
heapq.heappush(waiting, (1, layer(x)))
layer.weight.data = nn.init.ones_(layer.weight.data)
waiting[0][1].backward()
print(x.grad)
