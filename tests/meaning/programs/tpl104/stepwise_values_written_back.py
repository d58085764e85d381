# attacks: TPL104, TPL002
# promise: an array or a constant of a value may share its version counter
"""A simulation keeps rows of its state for autograd, as constants, and writes the next row meanwhile."""
import torch

torch.manual_seed(0)
state = torch.zeros(4, 2)
state[0] = torch.randn(2)
drag = torch.tensor([0.1, 0.2], requires_grad=True)
path, loss = [], torch.zeros(())
for t in range(3):
    here = state.data[t]
    loss = loss + (drag * here).exp().sum()
    state[t + 1] = here + 0.1 * torch.randn(2)
    path.append(state[t + 1].data.numpy().round(4).tolist())
loss.backward()
print(path, round(loss.item(), 5), [round(v, 5) for v in drag.grad.tolist()])
