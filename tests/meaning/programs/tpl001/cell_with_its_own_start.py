# attacks: TPL001
# promise: the constructor makes the first state with the weights that it scales then
import torch
import torch.nn as nn

torch.manual_seed(0)


class Reservoir(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner = nn.Parameter(torch.randn(size, size))
        self.read = nn.Linear(size, 1)
        state = torch.ones(1, size)
        for _ in range(3):
            state = torch.tanh(state @ self.inner)
        self.state = state
        self.inner.data.mul_(0.9 / self.inner.data.norm())

    def forward(self, x):
        return self.read(torch.tanh(x + self.state @ self.inner))


net = Reservoir(3)
net(torch.zeros(1, 3)).sum().backward()
print([round(v, 4) for v in net.inner.grad.flatten().tolist()])
