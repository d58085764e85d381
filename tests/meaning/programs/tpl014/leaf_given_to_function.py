# attacks: TPL014
# promise: an argument is no leaf that requires grad
import torch

torch.manual_seed(0)


def fit(weight, x, y, steps):
    weight.clone()
    for _ in range(steps):
        loss = (x @ weight - y).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            weight -= 0.1 * weight.grad
        weight.grad = None
    return loss.item(), weight.shape


weight = torch.zeros(3).requires_grad_()
loss, shape = fit(weight, torch.randn(8, 3), torch.randn(8), 3)
print(round(loss, 5), tuple(shape), [round(v, 5) for v in weight.tolist()])
