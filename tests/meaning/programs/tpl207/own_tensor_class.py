# attacks: TPL207
# promise: `detach().clone()` gives what `torch.tensor` gives: a plain tensor, also of a subclass
import torch


class Angle(torch.Tensor):
    """Degrees: sums wrap around."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs or {})
        if getattr(func, "__name__", "") == "add":
            return result % 360
        return result


def plain(angle: torch.Tensor):
    values = torch.tensor(angle)
    return values + 90


heading = torch.tensor([300.0, 45.0]).as_subclass(Angle)
print(plain(heading).tolist(), type(plain(heading)).__name__)
