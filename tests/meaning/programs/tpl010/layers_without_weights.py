# attacks: TPL010
# promise: a layer has nothing to train, so that its output has no graph
import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.randn(4, 3)
table = torch.randn(5, 3)
embed = nn.Embedding.from_pretrained(table)
norm = nn.BatchNorm1d(3, affine=False)
head = nn.Linear(3, 1)
vectors = embed(torch.tensor([0, 1, 2, 3]))
normed = norm(x)
hidden = nn.ReLU()(normed)
loss = head(vectors).sum() + head(hidden).sum()
loss.backward()
print(vectors.grad, normed.grad, hidden.grad)
