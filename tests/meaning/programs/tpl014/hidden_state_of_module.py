# attacks: TPL014
# promise: a plain attribute of a module is moved
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)


class Recurrent(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRUCell(width, width)
        self.state = torch.zeros(2, width)

    def forward(self, x):
        self.state.to(x.device)
        state = self.state
        for step in x:
            state = self.cell(step, state)
        return state


out = Recurrent(3)(torch.randn(4, 2, 3))
print([round(v, 5) for v in out.flatten().tolist()])
