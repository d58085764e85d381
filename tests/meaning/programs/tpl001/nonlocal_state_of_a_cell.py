# attacks: TPL001
# promise: the state of a closure carries the graph over the clipping
import torch
import torch.nn as nn

torch.manual_seed(0)
cell = nn.RNNCell(2, 3)


def stepper():
    state = torch.zeros(1, 3)

    def step(x):
        nonlocal state
        state = cell(x, state)
        return state.sum().item()

    def finish():
        return state

    return step, finish


step, finish = stepper()
for x in torch.randn(3, 1, 2):
    print(round(step(x), 4))
cell.weight_hh.data.clamp_(-0.2, 0.2)
finish().sum().backward()
print([round(v, 4) for v in cell.bias_ih.grad.tolist()])
