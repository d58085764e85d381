# attacks: TPL004
# promise: what was read of the dict before is not changed by the next sum
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
stats = {"loss": 0.0}
for epoch in range(3):
    at_start = stats["loss"]
    for x in torch.randn(2, 4, 2):
        loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        stats["loss"] += loss
    print(f"epoch {epoch}: {stats['loss'] - at_start:.4f}")
