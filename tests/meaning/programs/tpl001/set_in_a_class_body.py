# attacks: TPL001
# promise: an augmented assignment binds a name, in a class body and in a comprehension
import torch
import torch.nn as nn

torch.manual_seed(0)
base = torch.ones(2, requires_grad=True)


class Config:
    base.data *= 3
    names = sorted(name for name in vars() if not name.startswith("__"))


def shifts(amount):
    def apply():
        base.data += amount
        return base.tolist()

    return apply


print(Config.names, hasattr(Config, "base"))
print(shifts(1.0)(), "base" in shifts.__code__.co_varnames)
