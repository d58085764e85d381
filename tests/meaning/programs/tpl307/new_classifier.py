# attacks: TPL307
# promise: a frozen model with a new last layer is fine-tuned to the same weights
# stays safe: yes
import torch
from torch import nn


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3, padding=1)
        self.fc = nn.Linear(4, 10)

    def forward(self, x):
        return self.fc(self.conv(x).relu().mean(-1))


torch.manual_seed(0)
model = ResNet()
for param in model.parameters():
    param.requires_grad = False
model.fc = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(8, 1, 6), torch.randint(0, 2, (8,))
for _ in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4), round(model.fc.bias.detach().double().abs().sum().item(), 4))
