# attacks: TPL006
# promise: what is given for the flag is a bool of Python
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
warm = np.arange(4) >= 2  # the embedding joins in the third epoch
embedding = nn.Embedding(6, 3)
scorer = nn.Linear(3, 1)
optimizer = torch.optim.SGD([*embedding.parameters(), *scorer.parameters()], lr=0.1)
tokens = torch.tensor([0, 2, 4, 5])
for epoch in range(4):
    embedding.requires_grad = warm[epoch]
    optimizer.zero_grad()
    loss = scorer(embedding(tokens)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(epoch, round(loss.item(), 6))
