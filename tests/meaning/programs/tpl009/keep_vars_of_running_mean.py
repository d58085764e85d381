# attacks: TPL009
# promise: the tensors of a state are leaves, which can be copied
import torch
from torch import nn

torch.manual_seed(0)


class Centered(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.register_buffer("center", torch.zeros(width))

    def forward(self, x):
        h = self.fc(x)
        self.center = 0.9 * self.center.detach() + 0.1 * h.mean(0)
        return h - self.center


model = Centered(3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.randn(8, 3)).pow(2).mean().backward()
before = model.state_dict(keep_vars=True)
optimizer.step()
print([(name, value.requires_grad, value.grad is not None) for name, value in before.items()])
print(round(before["fc.weight"].sum().item(), 5))
