# attacks: TPL204
# promise: a view that raises is replaced by a copy that does not; here the error chooses another order
import torch


def flat(x):
    """In the order of memory: as a view of the transposed tensor where that is one, else of the tensor itself."""
    turned = x.transpose(0, 1)
    try:
        out = turned.view(-1)
        kind = "transposed"
    except RuntimeError:
        out = x.view(-1)
        kind = "plain"
    return kind, out.tolist()


print(flat(torch.arange(6).view(2, 3)))
print(flat(torch.arange(3).view(1, 3)))
