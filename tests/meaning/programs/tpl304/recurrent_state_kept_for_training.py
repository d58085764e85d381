# attacks: TPL304
# promise: the hidden state that the evaluation leaves in the module is trained through afterwards
import torch
import torch.nn as nn

torch.manual_seed(0)


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 3)
        self.out = nn.Linear(3, 1)
        self.state = torch.zeros(1, 3)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.out(self.state)


def warm_up(model, sequence):
    model.eval()
    seen = 0.0
    for x in sequence:
        seen += model(x).item()
    return seen


model = Stateful()
print(round(warm_up(model, torch.randn(3, 1, 2)), 4))
model.train()
model(torch.randn(1, 2)).sum().backward()
print(round(model.cell.weight_ih.grad.abs().sum().item(), 4))
