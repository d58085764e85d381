# attacks: TPL011
# promise: a row of a bigger tensor is not read there afterwards
import torch

torch.manual_seed(0)
weight = torch.randn(4, requires_grad=True)


def decode(states: torch.Tensor, learn: bool):
    total = 0
    for t in range(len(states)):
        row = states[t]
        energy = (row * weight).sum()
        total = total + energy
        row *= 0.5
    if learn:
        total.backward()
    return total


states = torch.randn(3, 4)
print(round(decode(states, learn=False).item(), 5))
print(round(states.sum().item(), 5))
