# attacks: TPL004
# promise: losses are kept so that their ids stay their own
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
epochs, losses = {}, []
for epoch in range(6):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    epochs[id(loss)] = epoch
    losses.append(loss)
print(len(epochs), [f"{float(one):.3f}" for one in losses[-2:]])
