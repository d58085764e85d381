# attacks: TPL108
# promise: the first parameter is called otherwise, so that the call raises
import torch

lu, pivots = torch.linalg.lu_factor(torch.eye(2) * 2)


def solve(right):
    return torch.lu_solve(b=right, LU_data=lu, LU_pivots=pivots)


try:
    print(solve(torch.ones(2, 1)))
except TypeError:
    print("no such argument")
