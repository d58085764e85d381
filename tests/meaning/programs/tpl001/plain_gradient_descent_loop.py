# attacks: TPL001
# promise: gradient descent by hand
# stays safe: yes
import torch

torch.manual_seed(0)
x, y = torch.randn(20, 3), torch.randn(20, 1)
w1 = torch.randn(3, 5, requires_grad=True)
w2 = torch.randn(5, 1, requires_grad=True)
for t in range(4):
    prediction = x.mm(w1).clamp(min=0).mm(w2)
    loss = (prediction - y).pow(2).mean()
    print(t, round(loss.item(), 4))
    loss.backward()
    w1.data -= 0.05 * w1.grad.data
    w2.data -= 0.05 * w2.grad.data
    w1.grad.data.zero_()
    w2.grad.data.zero_()
