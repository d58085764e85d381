# attacks: TPL002
# promise: an initialiser fills what the output's memory is
import torch
import torch.nn as nn

torch.manual_seed(0)


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.write = nn.Linear(3, 4)
        self.slots = None

    def forward(self, x):
        written = torch.softmax(self.write(x), dim=-1)
        self.slots = written.data
        return written

    def forget(self):
        nn.init.constant_(self.slots, 0.25)


memory = Memory()
out = memory(torch.randn(2, 3))
memory.forget()
(out * torch.arange(4.0)).sum().backward()
print([round(v, 4) for v in memory.write.bias.grad.tolist()])
