# attacks: TPL001
# promise: an operator of an object that is not shown runs no autograd
"""Learning rates are tuned by hypergradients that a lazy product computes."""
import torch

torch.manual_seed(0)


class Hessian:
    def __init__(self, loss, w):
        self.loss, self.w = loss, w

    def __matmul__(self, vector):
        (g,) = torch.autograd.grad(self.loss(self.w), self.w, create_graph=True)
        return torch.autograd.grad(g @ vector, self.w)[0]


w = torch.tensor([1.0, -2.0], requires_grad=True)
v = torch.ones(2)
hessian = Hessian(lambda u: (u**3).sum(), w)
w.data -= 0.01 * (hessian @ v)
w.data[0] = (hessian @ v)[0]
print([round(u, 5) for u in w.tolist()])
