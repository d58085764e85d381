# attacks: TPL004
# promise: membership asks for identity first, which tells where equality is not given
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
inputs = [torch.ones(2, 2), torch.full((2, 2), float("inf")) * 0, torch.ones(2, 2) * 2]
losses = []
for x in inputs:
    loss = model(x).pow(2).mean()
    losses.append(loss)
    if torch.isnan(loss):
        print("diverged", loss in losses)
        continue
    loss.backward()
print(len(losses), [f"{float(one):.3f}" for one in losses])
