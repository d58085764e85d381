# attacks: TPL003
# promise: an assignment to .data may give a tensor another shape
"""An embedding grows by rows for new words, in place of a new module."""
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(3, 2)
new = torch.ones(2, 2)
embedding.weight.data = torch.cat([embedding.weight.data, new])
embedding.num_embeddings += len(new)
out = embedding(torch.tensor([0, 4]))
out.sum().backward()
print(tuple(embedding.weight.shape), [round(v, 5) for v in out.flatten().tolist()])
print(embedding.weight.grad.sum(1).tolist())
