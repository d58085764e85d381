# attacks: TPL011
# promise: what was read of the memory was let go of, or copied
# shows: backward raises, as sigmoid saved its result
# stays safe: yes
import torch

x = torch.full((3,), 0.5, requires_grad=True)


def gate(x):
    y = torch.sigmoid(x)
    print(y.detach().mean(), y.data.max().item(), y.detach().cpu().numpy().tolist())
    before = y.detach().numpy().copy()
    _, place = torch.max(y.detach() + 1, 0)
    y *= 2
    print(before, place)
    return y


gate(x).sum().backward()
print(x.grad)
