# attacks: TPL002
# promise: sharing the version counter changes nothing for what is read
"""A memory bank: the loss uses one row, the next row is overwritten before the backward."""
import torch

torch.manual_seed(0)
bank = torch.randn(5, 3)
query = torch.randn(3, requires_grad=True)
total = torch.zeros(())
for t in range(4):
    key = bank.data[t]
    total = total + (query * key).sum().tanh()
    bank[t + 1] = query.detach() * 0.1 * t
total.backward()
print(round(total.item(), 5), [round(v, 5) for v in query.grad.tolist()])
