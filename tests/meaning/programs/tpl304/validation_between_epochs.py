# attacks: TPL304
# promise: a training script with a validation loop in each epoch prints the same losses
# stays safe: yes
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(48, 4)
y = (x.sum(1) > 0).long()
train_loader = DataLoader(TensorDataset(x[:32], y[:32]), batch_size=8)
val_loader = DataLoader(TensorDataset(x[32:], y[32:]), batch_size=8)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for epoch in range(3):
    model.train()
    for inputs, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    val_loss = 0.0
    for inputs, labels in val_loader:
        val_loss += criterion(model(inputs), labels).item()
    print(epoch, round(val_loss / len(val_loader), 3))
