# attacks: TPL004
# promise: a list that is stacked afterwards stays a list of tensors
# stays safe: yes
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
losses = []
for _ in range(6):
    x = torch.randn(8, 4)
    loss = F.mse_loss(net(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
print(f"{torch.stack(losses).mean().item():.4f} +- {torch.stack(losses).std().item():.4f}")
