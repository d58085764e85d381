# attacks: TPL004
# promise: a sum weighted by the batch size stays what it was
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, optimizer):
    total, count = 0.0, 0
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = total + loss * x.size(0)
        count += x.size(0)
    print(f"mean loss {total / count:.4f} over {count}")


torch.manual_seed(0)
network = nn.Linear(2, 2)
data = [(torch.randn(n, 2), torch.randint(0, 2, (n,))) for n in (3, 5, 2)]
train(network, data, torch.optim.SGD(network.parameters(), lr=0.1))
