# attacks: TPL001
# promise: a method of this class that is called in the statement records no graph
"""Newton steps with a Hessian-vector product inside the update."""
import torch


class Newton:
    def __init__(self, objective, start):
        self.objective = objective
        self.w = torch.tensor(start, requires_grad=True)

    def direction(self):
        (g,) = torch.autograd.grad(self.objective(self.w), self.w, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), self.w)
        return g.detach() / h.clamp(min=1e-3)

    def step(self):
        self.w.data.sub_(self.direction())


solver = Newton(lambda w: (w**4).sum() + (w - 1).pow(2).sum(), [2.0, -1.0, 0.5])
for _ in range(5):
    solver.step()
print([round(v, 5) for v in solver.w.tolist()])
