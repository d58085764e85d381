# attacks: TPL004
# promise: a sum that is kept as a tensor stays one
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = torch.zeros(1)
for x in torch.randn(4, 6, 3):
    loss = F.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
print(f"{total.item() / 4:.4f}", tuple(total.shape), total.dtype)
