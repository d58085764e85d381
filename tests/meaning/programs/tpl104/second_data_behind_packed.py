# attacks: TPL104
# promise: a `.data` in front of the move has taken the value out of the graph
"""The values of a packed sequence are copied to the host with a second `.data` that does the detaching."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence

torch.manual_seed(0)
embedding = nn.Embedding(5, 2)
sentences = [torch.tensor([1, 2, 4]), torch.tensor([3])]
packed = pack_sequence([embedding(s) for s in sentences])
values = packed.data.cpu().data.numpy()
packed.data.sum().backward()
print(values.shape, round(float(values.sum()), 5), embedding.weight.grad.sum(1).tolist())
