# attacks: TPL001
# promise: an alias made by detach can be written while other rows wait for their backward
"""A rolling history is written through an alias, row by row, between uses of earlier rows."""
import torch

torch.manual_seed(0)
history = torch.zeros(5, 2)
history[0] = 1.0
window = history.data
gain = torch.tensor(0.5, requires_grad=True)
loss = torch.zeros(())
for t in range(4):
    loss = loss + (gain * history[t]).sum() ** 2
    window[t + 1] = torch.randn(2)
loss.backward()
print(round(loss.item(), 5), round(gain.grad.item(), 5), [round(v, 4) for v in history.sum(1).tolist()])
