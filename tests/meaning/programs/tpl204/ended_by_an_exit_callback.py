# attacks: TPL204
# promise: a function on a stack of contexts swallows the error
import contextlib

import torch


def done(kind, error, trace):
    print("failed" if kind else "fine")
    return True


with contextlib.ExitStack() as stack:
    stack.push(done)
    x = torch.ones(2, 3)
    print(x.t().view(-1).shape)
print("end")
