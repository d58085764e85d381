# attacks: TPL001
# promise: the constructor makes a similarity of its own rows, and normalises them then
import torch
import torch.nn as nn

torch.manual_seed(0)


class Prototypes(nn.Module):
    def __init__(self, count, size):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(count, size))
        gram = self.rows @ self.rows.t()
        self.spread = gram.triu(1).pow(2).mean()
        self.rows.data.div_(self.rows.data.norm(dim=1, keepdim=True))

    def forward(self, x):
        return x @ self.rows.t()


model = Prototypes(4, 3)
loss = model(torch.ones(2, 3)).pow(2).mean() + 0.1 * model.spread
loss.backward()
print([round(v, 4) for v in model.rows.grad.flatten().tolist()])
