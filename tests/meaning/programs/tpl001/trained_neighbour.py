# attacks: TPL001
# promise: the neighbours that are put under no_grad as well run no autograd
"""Two weights are set side by side: one from a constant, one from a small training run."""
import torch

torch.manual_seed(0)
inputs = torch.randn(32, 3)
targets = inputs @ torch.tensor([1.0, -2.0, 0.5])


def best_bias(weight):
    bias = torch.zeros(1, requires_grad=True)
    for _ in range(20):
        loss = (inputs @ weight + bias - targets).pow(2).mean()
        loss.backward()
        bias.data -= 0.1 * bias.grad
        bias.grad = None
    return float(loss.item())


weight = torch.ones(3, requires_grad=True)
report = torch.zeros(2)
weight.data.mul_(0.5)
report.data[0] = best_bias(weight.detach())
weight.data[1] = -2.0
report.data[1] = best_bias(weight.detach())
print([round(v, 4) for v in report.tolist()], weight.tolist())
