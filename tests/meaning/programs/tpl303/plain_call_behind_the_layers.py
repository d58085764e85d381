# attacks: TPL303
# promise: the constructor of the base class runs first
# shows: the module cannot be made
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self, size):
        self.size = size
        self.fc = nn.Linear(size, size)
        super(Encoder, self).__init__()

    def forward(self, x):
        return torch.tanh(self.fc(x))


print([round(v, 4) for v in Encoder(2)(torch.ones(1, 2)).flatten().tolist()])
