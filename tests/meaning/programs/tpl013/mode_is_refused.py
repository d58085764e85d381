# attacks: TPL013
# promise: a layer refuses to have its mode set
import torch
from torch import nn
class Frozen(nn.BatchNorm1d):
    def train(self, mode=True):
        raise RuntimeError("the mode of this layer is fixed")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 2), Frozen(2))
net.eval
print(net(torch.ones(2, 2)))
