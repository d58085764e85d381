# attacks: TPL108
# promise: the right side was worked out first, and is the last argument of the successor
import torch

lu, pivots = torch.linalg.lu_factor(torch.eye(2) * 2)
rows = {}


class Solver:
    def __init__(self):
        self.calls = []

    @property
    def right(self):
        self.calls.append("right")
        return torch.ones(2, 1)

    @property
    def lu(self):
        self.calls.append("lu")
        return lu


try:
    print(torch.lu_solve(rows["b"], [lu][1], pivots))
except KeyError:
    print("no right side")
except IndexError:
    print("no factors")
solver = Solver()
print(torch.lu_solve(solver.right, solver.lu, pivots), solver.calls)
