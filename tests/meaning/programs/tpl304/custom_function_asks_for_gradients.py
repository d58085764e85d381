# attacks: TPL304
# promise: a custom function looks whether a gradient is needed
import torch
import torch.nn as nn

torch.manual_seed(0)


class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if ctx.needs_input_grad[0]:
            return x + 0.5
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return Noisy.apply(self.fc(x))


def evaluate(net, batches):
    net.eval()
    total = 0.0
    for x in batches:
        total += net(x).sum().item()
    return total


print(round(evaluate(Net(), torch.randn(3, 2, 3)), 4))
