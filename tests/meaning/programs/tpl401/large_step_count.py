# attacks: TPL401
# promise: a scalar of an integer is exact before the cast; it is rounded to a float first
import torch


def progress(reference):
    done = torch.scalar_tensor(16777217).double()
    total = reference.new_full((1,), 33554433).double()
    return done.item(), total.item()


print(progress(torch.ones(1)))
