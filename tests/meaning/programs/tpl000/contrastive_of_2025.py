# attacks: TPL001, TPL002, TPL003, TPL014
# promise: all safe fixes together leave a queue of keys and a momentum encoder as they were
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)


class MoCo(nn.Module):
    def __init__(self, width=4, length=12, momentum=0.9):
        super().__init__()
        self.encoder_q = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, width))
        self.encoder_k = copy.deepcopy(self.encoder_q)
        self.encoder_k.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(width, length), dim=0))
        self.register_buffer("pointer", torch.zeros(1, dtype=torch.long))
        self.momentum = momentum

    def update_keys(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data = k.data * self.momentum + q.data * (1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        start = int(self.pointer)
        columns = self.queue.data[:, start : start + len(keys)]
        columns.contiguous()
        columns.copy_(keys.t())
        self.pointer.data[0] = (start + len(keys)) % self.queue.shape[1]

    def forward(self, view_q, view_k):
        q = F.normalize(self.encoder_q(view_q), dim=1)
        self.update_keys()
        k = F.normalize(self.encoder_k(view_k), dim=1).data
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().data
        self.enqueue(k)
        return torch.cat([positive, negative], 1) / 0.2


model = MoCo()
optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.1, momentum=0.9)
for step in range(5):
    x = torch.randn(4, 6)
    logits = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    loss = F.cross_entropy(logits, torch.zeros(4, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5), model.pointer.item(), round(model.queue.sum().item(), 5))
print(round(sum(p.sum().item() for p in model.encoder_k.parameters()), 5))
