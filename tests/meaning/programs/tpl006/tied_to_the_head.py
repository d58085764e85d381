# attacks: TPL006
# promise: the frozen module shares its weight with one that is to be trained
# shows: the embedding, and what is tied to it, was meant to be frozen and is trained
import torch
import torch.nn as nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.out = nn.Linear(3, 5, bias=False)
        self.out.weight = self.embed.weight
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, tokens):
        return self.out(self.embed(tokens)) * self.scale


model = Model()
model.embed.requires_grad = False
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
for _ in range(2):
    loss = nn.functional.cross_entropy(model(torch.tensor([1, 2])), torch.tensor([2, 3]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(model.out.weight.sum().item(), 4), model.out.weight.requires_grad)
