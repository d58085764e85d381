# attacks: TPL108
# promise: one matrix is a chain, which the successor refuses; a vector is none, which it takes
import torch

print(torch.chain_matmul(torch.eye(2)))
matrix, vector = torch.eye(2), torch.ones(2)
try:
    print(torch.chain_matmul(matrix, vector))
except RuntimeError:
    print("refused")
