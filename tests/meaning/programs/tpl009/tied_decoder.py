# attacks: TPL009
# promise: a parameter that is given to another module was meant to be a copy
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(5, 3)
decoder = nn.Linear(3, 5, bias=False)
decoder.weight = embedding.weight
optimizer = torch.optim.SGD(embedding.parameters(), lr=0.2)
for step in range(3):
    optimizer.zero_grad()
    logits = decoder(embedding(torch.tensor([0, 1, 2])))
    loss = nn.functional.cross_entropy(logits, torch.tensor([1, 2, 3]))
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5), torch.equal(decoder.weight, embedding.weight))
