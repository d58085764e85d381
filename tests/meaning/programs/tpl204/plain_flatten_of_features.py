# attacks: TPL204
# promise: a single channel lies together, so that view works as it is
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 1, 1)
        self.fc = nn.Linear(5, 2)

    def forward(self, x):
        x = self.conv(x)
        x = x.transpose(1, 2)
        return self.fc(x.view(x.size(0), -1))


print(Head()(torch.ones(3, 2, 5)).shape)
