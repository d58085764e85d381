# attacks: TPL004
# promise: the items behind `enumerate` are read as numbers
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
batches = [(torch.randn(5, 4), torch.randint(0, 2, (5,))) for _ in range(4)]

epoch_losses = []
for x, y in batches:
    loss = criterion(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    epoch_losses.append(loss)

for number, value in enumerate(epoch_losses):
    print(f"batch {number}: loss {value.item():.4f}, perplexity {value.exp().item():.4f}")
