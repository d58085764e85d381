# attacks: TPL005
# promise: the weight of a parametrised layer is computed
import torch
import torch.nn as nn
from torch.nn.utils import parametrizations

torch.manual_seed(0)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.out = parametrizations.spectral_norm(nn.Linear(3, 1))

    def forward(self, x):
        return self.out(torch.relu(self.fc(x)))


critic = Critic()
critic.fc.weight.requires_gradient = False
critic.out.weight.requires_gradient = False
critic.out.weight.require_grad = False
critic(torch.ones(1, 3)).sum().backward()
print(critic.out.parametrizations.weight.original.grad is not None, critic.fc.weight.requires_grad)
