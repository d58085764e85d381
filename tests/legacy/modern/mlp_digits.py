import torch
from torch import nn, optim
from torch.nn.functional import cross_entropy, dropout
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
prototypes = torch.randn(10, 8, 8)


def make_digits(n):
    labels = torch.arange(n) % 10
    return TensorDataset(prototypes[labels] + 0.3 * torch.randn(n, 8, 8), labels)


train_loader = DataLoader(make_digits(200), batch_size=20)
test_loader = DataLoader(make_digits(50), batch_size=25)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        return self.fc2(dropout(torch.tanh(self.fc1(x.flatten(1))), training=self.training))


images, _ = next(iter(train_loader))
model = Net()
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
history = [images.sum()]
for _ in range(2):
    model.train()
    for index, (images, labels) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        if index % 5 == 0:
            history.append(loss.item())
    model.eval()
    with torch.no_grad():
        outputs = [(model(images), labels) for images, labels in test_loader]
    history.append(sum(cross_entropy(output, labels, reduction="sum").item() for output, labels in outputs) / 50)
    history.append(sum((output.argmax(1) == labels).sum().item() for output, labels in outputs))
