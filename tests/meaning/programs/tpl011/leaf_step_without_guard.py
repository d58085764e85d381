# attacks: TPL011
# promise: a leaf cannot be changed in place as the program stands
# shows: the update raised
# stays safe: yes
import torch

torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
x, y = torch.randn(10, 3), torch.randn(10)
for step in range(3):
    loss = (x @ w - y).pow(2).mean()
    loss.backward()
    w -= 0.1 * w.grad
    w.grad = None
    print(step, round(loss.item(), 5))
