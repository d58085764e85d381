# attacks: TPL001
# promise: an augmented assignment in a function makes a global name a local one
import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
x, y = torch.randn(8, 3), torch.randn(8)


def step(rate):
    w.data -= rate * w.grad.data
    b.data -= rate * b.grad.data
    w.grad.data.zero_()
    b.grad.data.zero_()


for _ in range(5):
    loss = (x @ w + b - y).pow(2).mean()
    loss.backward()
    step(0.1)
print([round(v, 4) for v in w.tolist()], round(b.item(), 4))
