# attacks: TPL001
# promise: going through a generator runs its forward passes
# stays safe: yes
import torch

x = torch.ones(3, requires_grad=True)


def losses():
    for i in range(1, 4):
        yield (x * x * i).sum()


def last_loss():
    offset = torch.ones(3, requires_grad=True)
    coming = losses()
    for loss in coming:
        offset.data.zero_()
    return loss, offset


loss, offset = last_loss()
loss.backward()
print(x.grad, offset)
