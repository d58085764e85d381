# attacks: TPL203
# promise: the copy carries the same values, and so the same gradient
import torch

w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
row = w * 2
rows = row.expand(2, 3)
rows[0, 0] = 0.0
loss = rows.sum() + row.sum()
loss.backward()
print(loss.item(), w.grad.tolist(), row.tolist())
