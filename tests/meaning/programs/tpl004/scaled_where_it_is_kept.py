# attacks: TPL004
# promise: a name in a loop over the list changes nothing that the list keeps
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    losses = [0.0]
    parts = []
    for part in (0, 1, 2):
        loss = (model(x)[:, 0] - x[:, part]).pow(2).mean()
        loss.backward(retain_graph=True)
        parts.append(loss)
        optimizer.zero_grad()
        for value in parts:
            value *= 0.5
        loss.backward()
        optimizer.step()
    print(" ".join(f"{float(value):.4f}" for value in parts))

print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
