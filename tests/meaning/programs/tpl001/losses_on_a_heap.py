# attacks: TPL001
# promise: a heap keeps the losses whose weight is changed
import heapq

import torch

w = torch.ones(3, requires_grad=True)
heap = []
for i in range(3):
    loss = (w * w * i).sum()
    heapq.heappush(heap, (-i, loss))
    w.data.mul_(0.5)
heap[0][1].backward()
print(w.grad)
