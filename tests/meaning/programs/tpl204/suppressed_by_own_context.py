# attacks: TPL204
# promise: a context manager of the program's own swallows the error
import torch


class Tolerant:
    def __init__(self):
        self.swallowed = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.swallowed += kind is RuntimeError
        return True


def flat(x: torch.Tensor):
    x = x.permute(0, 2, 1)
    return x.view(x.size(0), -1)


guard = Tolerant()
kept = []
for width in (1, 3):
    with guard:
        kept.append(flat(torch.arange(2.0 * 2 * width).view(2, 2, width)).tolist())
print(kept, guard.swallowed)
