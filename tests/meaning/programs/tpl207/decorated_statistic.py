# attacks: TPL207
# promise: what a function of the file returns is what its text returns; its decorator rounds it to numbers
import functools

import torch


def as_numbers(function):
    @functools.wraps(function)
    def wrapped(*args):
        return [round(v, 3) for v in function(*args).flatten().tolist()]

    return wrapped


@as_numbers
def quantiles(x):
    return torch.quantile(x, torch.tensor([0.25, 0.5]))


summary = torch.tensor(quantiles(torch.arange(7.0)))
print(summary.tolist())
