# attacks: TPL001
# promise: nothing that was saved for the backward pass shares the version counter
"""An unrolled ODE keeps its trajectory in one tensor; each row is used before the next one is written."""
import torch

torch.manual_seed(0)
rate = torch.tensor(0.3, requires_grad=True)
states = torch.zeros(6, 3)
states[0] = torch.randn(3)
loss = torch.zeros(())
for t in range(5):
    change = rate * states[t]
    states.data[t + 1] = (states[t] + 0.1 * change).detach()
    loss = loss + change.pow(2).sum()
loss.backward()
print("loss", round(loss.item(), 5), "gradient", round(rate.grad.item(), 5))
