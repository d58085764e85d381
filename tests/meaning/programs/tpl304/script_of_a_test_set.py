# attacks: TPL304
# promise: the test loop at the end of a script prints the same accuracy
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(40, 3)
y = (x[:, 0] > x[:, 1]).long()
net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
for epoch in range(5):
    for start in range(0, 24, 8):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[start : start + 8]), y[start : start + 8]).backward()
        optimizer.step()
net.eval()
correct = total = 0
for start in range(24, 40, 8):
    outputs = net(x[start : start + 8])
    _, predicted = torch.max(outputs, 1)
    total += 8
    correct += (predicted == y[start : start + 8]).sum().item()
print(f"{correct} of {total}")
