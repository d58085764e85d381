# attacks: TPL004
# promise: what a generator hands out is not back-propagated
import torch
import torch.nn as nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
head = nn.Linear(4, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)


def windows(batches, size=2):
    backbone.eval()  # its statistics stay as they are
    losses = []
    for x, y in batches:
        loss = nn.functional.mse_loss(head(backbone(x)), y)
        losses.append(loss)
        if len(losses) == size:
            yield losses
            losses.clear()


data = [(torch.randn(5, 3), torch.randn(5, 1)) for _ in range(6)]
for window in windows(data):
    optimizer.zero_grad()
    (sum(window) + 1e-3 * head.weight.pow(2).sum()).backward()
    optimizer.step()
print([f"{value:.4f}" for value in head.weight.flatten().tolist()])
