# attacks: TPL106
# promise: the functional module was given another sigmoid
import torch
import torch.nn.functional as F


def hard_sigmoid(x):
    return (x / 6 + 0.5).clamp(0, 1)


def install(module, name, function):
    setattr(module, name, function)


install(F, "sigmoid", hard_sigmoid)
x = torch.tensor([-1.0, 0.0, 2.0])
print([round(v, 4) for v in F.sigmoid(x).tolist()])
print([round(v, 4) for v in torch.sigmoid(x).tolist()])
F.tanh = lambda value: value.clamp(-1, 1)
print([round(v, 4) for v in F.tanh(x).tolist()])
