# attacks: TPL204
# promise: a context that is a generator catches the error
import contextlib

import torch


@contextlib.contextmanager
def quiet(what):
    try:
        yield
    except RuntimeError:
        print("left out:", what)


with quiet("rows"):
    x = torch.ones(2, 3)
    print(x.t().view(-1).shape)
print("end")
