# attacks: TPL005
# promise: everything is frozen, and the head is replaced by one that is trained
# shows: the rest of the model was meant to be frozen and was trained
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        self.fc = nn.Linear(4, 5)

    def forward(self, x):
        return self.fc(self.features(x))


model = Net()
for param in model.parameters():
    param.requires_gard = False
model.fc = nn.Linear(4, 2)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
before = model.features[0].weight.clone()
for x in torch.randn(3, 8, 3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), x[:, 0].gt(0).long())
    loss.backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad.clamp_(-1, 1)
    optimizer.step()
print(torch.equal(before, model.features[0].weight))
