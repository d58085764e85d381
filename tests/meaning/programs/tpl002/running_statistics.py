# attacks: TPL002
# promise: statistics are taken of the data, and a buffer is the memory of an output
import torch
import torch.nn as nn

torch.manual_seed(0)


class Whiten(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)
        self.register_buffer("mean", torch.zeros(size))

    def forward(self, x):
        y = torch.tanh(self.fc(x))
        batch_mean = y.data.mean(0)
        self.mean.lerp_(batch_mean, 0.1)
        row = y.data[0]
        row.sub_(self.mean)
        return y - self.mean


net = Whiten(3)
net(torch.randn(4, 3)).sum().backward()
print([round(v, 4) for v in net.fc.bias.grad.tolist()], [round(v, 4) for v in net.mean.tolist()])
