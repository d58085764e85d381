# attacks: TPL203
# promise: a parameter that is made of an expansion has to have memory of its own; this one is tied to another
import torch
from torch import nn


class Tied(nn.Module):
    """Input and output embedding are one piece of memory."""

    def __init__(self, tokens, width):
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        self.out = nn.Parameter(self.embed.weight.detach().expand(tokens, width))

    def forward(self, ids):
        return self.embed(ids) @ self.out.T


torch.manual_seed(0)
model = Tied(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.tensor([0, 1])), torch.tensor([2, 3])).backward()
    optimizer.step()
print(torch.equal(model.embed.weight, model.out), round(model.out.detach().double().sum().item(), 4))
