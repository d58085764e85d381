# attacks: TPL001
# promise: under autocast, a product with the weight leaves a cast of it that the forward pass takes
import torch
import torch.nn as nn

torch.manual_seed(0)


class Whitened(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size, bias=False)

    def forward(self, x):
        return self.fc(x)


net = Whitened(2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with torch.autocast("cpu", dtype=torch.bfloat16):
    net.fc.weight.data.copy_(torch.mm(net.fc.weight.data, net.fc.weight.data.t()))
    for _ in range(2):
        loss = net(torch.ones(1, 2)).float().pow(2).mean()
        print(round(loss.item(), 3), loss.requires_grad)
