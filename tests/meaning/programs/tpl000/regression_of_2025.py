# attacks: TPL004, TPL013, TPL014, TPL106
# promise: leftovers of debugging in a plain script change nothing
import torch
from torch import nn

torch.manual_seed(14)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
nn.init.xavier_normal(model[0].weight)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
features, targets = torch.randn(32, 3), torch.randn(32, 1)
running = 0
for epoch in range(3):
    model.train()
    for x, y in zip(features.split(16), targets.split(16)):
        x = x + 0.01 * torch.randn_like(x)
        x.to(device)
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss
    scheduler.step()
    print(epoch, round(float(running), 5), scheduler.get_last_lr()[0])
model.eval()
with torch.no_grad():
    print(round(model(features).pow(2).mean().item(), 5))
