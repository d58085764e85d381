# attacks: TPL601
# promise: the logarithms are scaled in place
import torch
from torch import nn
import torch.nn.functional as F

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        logp = F.softmax(self.fc(x), dim=-1).log()
        logp *= 0.5
        return logp

torch.manual_seed(0)
net = Policy()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    loss = -net(torch.ones(2, 4))[:, 0].mean()
    loss.backward()
    opt.step()
    print(f"{loss.item():.4f}")
