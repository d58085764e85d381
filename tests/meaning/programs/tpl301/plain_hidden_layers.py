# attacks: TPL301
# promise: the layers of the list are trained as well
# shows: they are not among the parameters
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)


class Deep(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
        self.head = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


net = Deep([3, 4, 4])
print(sum(p.numel() for p in net.parameters()), net(torch.ones(2, 3)).shape)
