# attacks: TPL004
# promise: nobody gets the list under another name
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
log = losses = []
for x in torch.randn(3, 4, 3):
    loss = F.mse_loss(model(x), x[:, :1])
    losses.append(loss)
    log[-1].register_hook(lambda grad: print(f"reached {grad.item():.1f}"))
    optimizer.zero_grad()
    (2 * loss).backward()
    optimizer.step()

print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
