# attacks: TPL204
# promise: a decorator counts the calls that fail, and calls again with less
import functools

import torch

torch.manual_seed(0)
failures = []


class Retrying:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, x):
        out = None
        with Ignoring(failures):
            out = self.function(x)
        return out if out is not None else self.function(x[:, :1])


class Ignoring(list):
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind:
            self.log.append(kind.__name__)
        return True


@Retrying
def flat(x: torch.Tensor):
    return x.transpose(1, 2).view(x.size(0), -1)


print(flat(torch.randn(2, 3, 4)).shape, failures)
