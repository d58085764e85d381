# attacks: TPL004
# promise: a mean that is handed out is good for its value alone, as its graph is freed
# stays safe: yes
import torch
import torch.nn as nn


def train_epoch(model, batches, optimizer):
    criterion = nn.MSELoss()
    model.train()
    total = 0
    for x in batches:
        optimizer.zero_grad()
        loss = criterion(model(x), x[:, :1])
        loss.backward()
        optimizer.step()
        total += loss
    return total / len(batches)


torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
means = [train_epoch(net, torch.randn(4, 5, 3), opt) for epoch in range(3)]
print(" ".join(f"{mean.sqrt():.4f}" for mean in means), torch.stack(means).dtype)
