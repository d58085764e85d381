# attacks: TPL001
# promise: `.data` read in a lambda of the statement is evaluated there, under no_grad
"""A schedule of later targets is registered in the statement that writes the current one."""
import torch

torch.manual_seed(0)
pending = []


def schedule(function):
    pending.append(function)
    return function()


anchor = torch.randn(4, requires_grad=True)
target = torch.zeros(4, requires_grad=True)
target.data.copy_(schedule(lambda: anchor.data * 0.5))

later = pending[0]()
print("requires grad", later.requires_grad)
loss = ((target - later) ** 2).sum() + target.sum()
loss.backward()
print("anchor", anchor.grad, "target", target.grad.tolist())
