# attacks: TPL001
# promise: a tensor without graph can be changed where autograd is on
"""The first rows of an embedding are taken under no_grad and faded in the training step."""
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(5, 3)
with torch.no_grad():
    rare = embedding.weight[:2]
    common = embedding.weight.narrow(0, 2, 3)

for _ in range(2):
    embedding(torch.tensor([0, 3])).pow(2).sum().backward()
    rare.data.mul_(0.5)
    common.data.sub_(0.01)
print([round(v, 5) for v in embedding.weight.flatten().tolist()])
print([round(v, 5) for v in embedding.weight.grad.sum(1).tolist()])
