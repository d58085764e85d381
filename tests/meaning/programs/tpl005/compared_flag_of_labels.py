# attacks: TPL005
# promise: a flag that is compared with True can be set to it
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(10, 4)
decoder = nn.Linear(4, 10)


def score(tokens):
    tokens.requires_grad == True
    logits = decoder(embedding(tokens))
    return nn.functional.cross_entropy(logits, tokens)


tokens = torch.randint(0, 10, (6,))
loss = score(tokens)
loss.backward()
print(tokens.tolist(), round(loss.item(), 5))
print(round(embedding.weight.grad.abs().sum().item(), 5))
