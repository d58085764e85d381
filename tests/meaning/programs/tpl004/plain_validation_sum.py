# attacks: TPL004
# promise: the sum of the validation is returned as a number
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train_epoch(batches):
    total = 0
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    return (total / len(batches)).item()


data = [(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(3)]
print([round(train_epoch(data), 4) for _ in range(2)])
