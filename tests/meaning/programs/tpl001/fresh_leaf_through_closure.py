# attacks: TPL001
# promise: a closure computes with the tensor before it is changed
import torch

torch.manual_seed(0)


def solve(matrix, target):
    x = torch.zeros(2, requires_grad=True)

    def residual():
        return ((matrix @ x) * x - target).pow(2).sum()

    first = residual()
    x.data.fill_(0.5)
    second = residual()
    first.backward()
    return x.grad, second.item()


grad, second = solve(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.ones(2))
print([round(v, 4) for v in grad.tolist()], round(second, 4))
