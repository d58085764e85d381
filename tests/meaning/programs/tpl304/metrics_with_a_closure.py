# attacks: TPL304
# promise: the metric is a closure that remembers the worst output, which an attack starts from
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 2)


def make_metric():
    worst = None

    def metric(out):
        nonlocal worst
        margin = out.max() - out.min()
        if worst is None or margin.item() < worst.item():
            worst = margin
        return margin.item()

    def sharpen():
        worst.backward()
        return model.weight.grad.abs().sum().item() > 0

    return metric, sharpen


metric, sharpen = make_metric()


def evaluate(batches):
    model.eval()
    total = 0.0
    for x in batches:
        total += metric(model(x))
    return total


print(round(evaluate(torch.randn(3, 1, 2)), 4), sharpen())
