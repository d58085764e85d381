# attacks: TPL013
# promise: the module refuses training mode
import torch
from torch import nn
torch.manual_seed(0)
class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)
    def train(self, mode=True):
        if mode:
            raise ValueError("a teacher is not trained")
        return super().train(mode)
    def forward(self, x):
        return self.norm(self.fc(x))
net = Teacher().eval()
net.train
print(net(torch.ones(3, 2)).sum().item())
