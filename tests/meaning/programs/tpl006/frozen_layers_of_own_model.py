# attacks: TPL006
# promise: a plain part of a model of the file is frozen by True or False
# shows: the first layer was meant to be frozen and got gradients
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten())
        self.classifier = nn.Linear(2 * 4 * 4, 3)

    def forward(self, x):
        return self.classifier(self.features(x))


net = Net()
net.features.requires_grad = False
net.classifier.requires_grad = True
loss = nn.functional.cross_entropy(net(torch.randn(4, 1, 6, 6)), torch.tensor([0, 1, 2, 0]))
loss.backward()
print([(name, p.grad is None) for name, p in net.named_parameters()])
