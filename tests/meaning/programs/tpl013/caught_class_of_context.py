# attacks: TPL013
# promise: a TypeError of a class of context managers is not awaited
import torch

torch.manual_seed(0)
weight = torch.randn(2, requires_grad=True)


def evaluate():
    """Old builds have an instance there, new ones a class."""
    try:
        with torch.no_grad:
            out = weight * 2
        how = "instance"
    except TypeError:
        with torch.no_grad():
            out = weight * 3
        how = "class"
    return how, out


how, out = evaluate()
print(how, out.requires_grad, [round(v, 5) for v in out.tolist()])
