# attacks: TPL005
# promise: 0 and 1 are flags as good as False and True
import torch
from torch import nn

torch.manual_seed(0)
embedding, head = nn.Embedding(6, 3), nn.Linear(3, 2)
for parameter in embedding.parameters():
    parameter.requires_gard = 0
head.bias.requires_grads = 1
loss = nn.functional.cross_entropy(head(embedding(torch.tensor([1, 4]))), torch.tensor([0, 1]))
loss.backward()
print(round(loss.item(), 5), round(head.bias.grad.abs().sum().item(), 5))
