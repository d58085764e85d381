# attacks: TPL008, TPL002, TPL104
# promise: one memory stays one memory, behind all its names
"""A colour map is applied through three names for one buffer."""
import torch

torch.manual_seed(0)


def tone(x):
    plain = x.data
    array = x.detach().numpy()
    array[0] = 0
    plain_sum = plain.sum().item()
    shown = x.data.numpy()
    shown[1] = 1
    return plain_sum, plain.tolist()


values = torch.rand(3, requires_grad=True)
result = values * 2
print([round(v, 4) if isinstance(v, float) else [round(u, 4) for u in v] for v in tone(result)])
result.sum().backward()
print([round(v, 4) for v in result.tolist()], values.grad.tolist())
