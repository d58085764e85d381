import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy

torch.manual_seed(8)
np.random.seed(8)
points = np.random.rand(30, 2) * 2 - 1
x = torch.from_numpy(points).float()
y = torch.from_numpy(points[:, 0] + 2 * points[:, 1] > 0).float().unsqueeze(1)


def loss_of(weight, bias):
    return binary_cross_entropy(torch.sigmoid(x @ weight + bias), y)


w, b = torch.randn(2, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
w_grad, b_grad = torch.autograd.grad(loss_of(w, b), (w, b))
with torch.no_grad():
    history = [loss_of(w - 0.1 * w_grad, b - 0.1 * b_grad).item()]

w, b = torch.randn(2, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, b], lr=1.0)
for epoch in range(40):
    optimizer.zero_grad()
    loss = loss_of(w, b)
    loss.backward()
    optimizer.step()
    if (epoch + 1) % 10 == 0:
        history.append(loss.item())
line = (-w[0].item() * np.arange(0.2, 1, 0.1) - b.item()) / w[1].item()
history.append(float(line.sum()))
