# attacks: TPL011
# promise: a variable can be assigned where it is changed
import torch

torch.manual_seed(0)
learn = False
x = torch.randn(4, requires_grad=True)
gate = x.sigmoid()


def soften():
    gate.mul_(0.5)


def close(index):
    gate[index] = 0


soften()
close(1)
loss = (gate * torch.arange(4.0)).sum()
if learn:
    loss.backward()
print(round(loss.item(), 5), [round(v, 5) for v in gate.detach().tolist()])
