# attacks: TPL304
# promise: a model is the same after it was evaluated; this one caches what it made of its weights
import torch
from torch import nn


class GaussianFilter(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_width = nn.Parameter(torch.tensor(0.3))
        self.kernel = None

    def forward(self, x):
        if self.kernel is None:
            grid = torch.arange(-2.0, 3.0)
            self.kernel = torch.softmax(-grid.pow(2) / self.log_width.exp(), 0)
        return nn.functional.conv1d(x, self.kernel.view(1, 1, -1), padding=2)


def test_error(model, loader):
    model.eval()
    error = 0.0
    for x in loader:
        error += (model(x) - x).abs().mean().item()
    return error


torch.manual_seed(0)
model = GaussianFilter()
print(round(test_error(model, [torch.randn(2, 1, 9) for _ in range(2)]), 4))
model.train()
loss = model(torch.randn(2, 1, 9)).pow(2).mean()
loss.backward()
print(round(loss.item(), 4), model.log_width.grad is not None)
