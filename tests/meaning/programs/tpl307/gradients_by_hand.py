# attacks: TPL307
# promise: an optimizer does not change what is frozen; it does where gradients are set by hand
import torch
from torch import nn


class Server:
    """Federated averaging: the clients' changes are the gradients."""

    def __init__(self, model):
        self.model = model
        for p in model.body.parameters():
            p.requires_grad_(False)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.5)

    def merge(self, changes):
        for p, change in zip(self.model.parameters(), changes):
            p.grad = -change
        self.optimizer.step()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(2, 2), nn.Linear(2, 1)


torch.manual_seed(0)
net = Net()
server = Server(net)
for _ in range(2):
    server.merge([torch.full_like(p, 0.5) for p in net.parameters()])
print([round(p.double().sum().item(), 4) for p in net.parameters()])
