# attacks: TPL009
# promise: the buffer has a graph, which deepcopy refuses
import torch
import torch.nn as nn

torch.manual_seed(0)


class Drifting(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x):
        y = self.fc(x)
        self.mean = 0.9 * self.mean + 0.1 * y.mean(0)
        return y - self.mean.detach()


net = Drifting()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
best, least = None, float("inf")
for _ in range(3):
    loss = net(torch.randn(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < least:
        least, best = loss.item(), net.state_dict(keep_vars=True)
net.load_state_dict(best)
print(best["mean"].grad_fn is not None, round(least, 4))
