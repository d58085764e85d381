# attacks: TPL001
# promise: no backward that saved the leaf can still follow
"""A tied output layer uses a slice of the embedding; the padding row outside it is reset before the backward."""
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(6, 4)
tokens = torch.tensor([[1, 2, 3], [2, 4, 5]])
hidden = torch.tanh(embedding(tokens))
logits = hidden @ embedding.weight[1:].t()
loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten() - 1)
embedding.weight.data[0].fill_(0)
loss.backward()
print("loss", round(loss.item(), 5))
print([round(v, 5) for v in embedding.weight.grad.sum(1).tolist()])
