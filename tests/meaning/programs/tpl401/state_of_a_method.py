# attacks: TPL401
# promise: the state is made without autograd, and added to with it
import torch
from torch import nn

class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3, dtype=torch.float64))

    @torch.no_grad()
    def start(self):
        return torch.zeros(3).unsqueeze(0).double()

    def forward(self, x):
        state = self.start()
        for step in x:
            state += step * self.w
        return state

m = Memory()
m(torch.ones(2, 3, dtype=torch.float64)).sum().backward()
print(m.w.grad)
