# attacks: TPL002
# promise: what is given to a constructor of torch is the `data` of a tensor
"""Turns a compressed matrix into a sparse tensor, as graph code does with scipy."""
import torch
from matrices import load_adjacency


def to_sparse(m):
    rows = torch.LongTensor([row for row, count in enumerate(m.counts) for _ in range(count)])
    columns = torch.LongTensor(m.indices)
    values = torch.FloatTensor(m.data)
    return torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (3, 3))


adjacency = to_sparse(load_adjacency())
print(adjacency.to_dense().tolist())
