# attacks: TPL005
# promise: a misspelt keyword that raises is no part of the program
import torch

torch.manual_seed(0)


def make_weight(rows, columns):
    """Some forks of torch take `require_grad`; the plain one wants the flag set afterwards."""
    try:
        weight = torch.zeros(rows, columns, require_grad=True)
        origin = "fork"
    except TypeError:
        weight = torch.full((rows, columns), 0.5)
        weight.requires_grad_(True)
        origin = "plain"
    return weight, origin


weight, origin = make_weight(2, 3)
out = (torch.randn(4, 3) @ weight.t()).pow(2).mean()
out.backward()
print(origin, round(out.item(), 5), [round(v, 4) for v in weight.grad.flatten().tolist()])
