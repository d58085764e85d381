# attacks: TPL013
# promise: the call that was never made would leave the training in the mode of evaluation
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    x = torch.randn(8, 3) + 2
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval
    with torch.no_grad():
        print(round(model(torch.ones(2, 3)).sum().item(), 4))
print(model[1].num_batches_tracked.item())
