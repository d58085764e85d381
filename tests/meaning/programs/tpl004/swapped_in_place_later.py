# attacks: TPL004
# promise: what the list keeps does not share its memory with what is written later
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for x in torch.randn(4, 5, 3):
    loss = nn.functional.smooth_l1_loss(model(x), x[:, :1])
    losses.append(loss)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        loss.clamp_(max=0.5)
print(" ".join(f"{float(value):.4f}" for value in losses))
