# attacks: TPL307
# promise: a head that is trained on frozen features learns the same
# stays safe: yes
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.backbone(x))


torch.manual_seed(0)
model = Classifier()
for param in model.backbone.parameters():
    param.requires_grad = False
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))
for _ in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4), round(model.head.weight.detach().double().sum().item(), 4))
