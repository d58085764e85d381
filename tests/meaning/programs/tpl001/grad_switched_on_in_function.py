# attacks: TPL001
# promise: a function decorated with no_grad keeps autograd off to its end
"""A solver turns gradients on for its inner loop and off again."""
import torch

torch.manual_seed(0)
w = torch.tensor([3.0, -1.0], requires_grad=True)


@torch.no_grad()
def solve(steps):
    history = []
    torch.set_grad_enabled(True)
    for _ in range(steps):
        loss = (w**2).sum()
        loss.backward()
        w.data.add_(w.grad, alpha=-0.1)
        w.grad = None
        history.append(round(loss.item(), 4))
    torch.set_grad_enabled(False)
    return history


print(solve(4), [round(v, 4) for v in w.tolist()])
