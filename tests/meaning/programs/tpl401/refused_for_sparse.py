# attacks: TPL401
# promise: a sparse matrix refuses the cast, and the code awaits that
import torch

def empty_like_matrix(adj: torch.Tensor):
    try:
        return torch.zeros(3, 3).type_as(adj)
    except RuntimeError:
        return torch.sparse_coo_tensor(torch.empty(2, 0, dtype=torch.long), [], (3, 3))

adj = torch.eye(3, dtype=torch.float64).to_sparse()
print(empty_like_matrix(adj).layout)
