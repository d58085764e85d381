# attacks: TPL001
# promise: the step is a statement in finally, and the loss is used once more
import torch

torch.manual_seed(0)
w = torch.randn(4, requires_grad=True)
x, y = torch.randn(10, 4), torch.randn(10)
for epoch in range(3):
    error = x @ w - y
    loss = (error ** 2).mean()
    grads = torch.autograd.grad(loss, w, retain_graph=True)
    try:
        if loss.item() > 5:
            raise ValueError("too large")
    except ValueError as problem:
        print(problem)
    finally:
        w.data -= 0.1 * grads[0]
    again = torch.autograd.grad(loss + (w ** 2).sum(), w)[0]
    print([round(v, 4) for v in again.tolist()])
