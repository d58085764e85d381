# attacks: TPL004
# promise: the list is read by float alone
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def fit(epochs):
    net = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    curve = []
    for _ in range(epochs):
        x, y = torch.randn(6, 5), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.append(loss)
    return [float(value) for value in curve]


print([round(value, 4) for value in fit(4)])
