# attacks: TPL004, TPL009, TPL010
# promise: all safe fixes together leave second-order gradients as they were
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(13)
net = nn.Linear(3, 1)
meta = torch.optim.Adam(net.parameters(), lr=0.05)
init = list(net.parameters())
history = []


def adapt(params, x, y, steps=2, lr=0.1):
    fast = params
    for _ in range(steps):
        inner = F.mse_loss(F.linear(x, *fast), y)
        grads = torch.autograd.grad(inner, fast, create_graph=True)
        fast = [p - lr * g for p, g in zip(fast, grads)]
    return fast


for iteration in range(4):
    meta_loss = 0
    for task in range(2):
        x = torch.randn(8, 3)
        y = x @ torch.randn(3, 1)
        fast = adapt(init, x[:4], y[:4])
        prediction = F.linear(x[4:], *fast)
        gate = prediction.sigmoid()
        gate = gate * 0.5
        meta_loss += F.mse_loss(prediction, y[4:]) + 0.01 * gate.mean()
    meta.zero_grad()
    meta_loss.backward()
    norm = nn.utils.clip_grad_norm_(init, 1.0)
    meta.step()
    history.append(meta_loss)
    print(iteration, round(meta_loss.item(), 5), round(norm.item(), 5), prediction.grad)
drift = sum((p - q).abs().sum() for p, q in zip(init, net.parameters()))
print(drift.item(), len(history), round(net.weight.sum().item(), 5))
