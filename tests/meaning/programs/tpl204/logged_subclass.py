# attacks: TPL204
# promise: `reshape` stands for `view` with every tensor; this subclass allows views only
import torch


class Strict(torch.Tensor):
    """A tensor that counts its views, and refuses what may copy."""

    views = 0

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name == "reshape":
            raise TypeError("reshape may copy")
        cls.views += name == "view"
        return super().__torch_function__(func, types, args, kwargs or {})


def merge(x):
    y = x.transpose(1, 2)
    return y.view(x.size(0), -1)


x = torch.arange(4.0).view(2, 1, 2).as_subclass(Strict)
print(merge(x).tolist(), Strict.views)
