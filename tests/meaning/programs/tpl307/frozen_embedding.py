# attacks: TPL307
# promise: a tagger on frozen embeddings learns the same
# stays safe: yes
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.rnn = nn.GRU(4, 5, batch_first=True)
        self.out = nn.Linear(5, 3)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embedding(ids))
        return self.out(hidden)


torch.manual_seed(0)
tagger = Tagger()
tagger.embedding.weight.requires_grad = False
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.5, momentum=0.9)
ids, tags = torch.randint(0, 7, (4, 6)), torch.randint(0, 3, (4, 6))
for _ in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(tagger(ids).flatten(0, 1), tags.flatten())
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
