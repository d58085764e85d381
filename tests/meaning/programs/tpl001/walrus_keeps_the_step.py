# attacks: TPL001
# promise: the step that is subtracted is kept with its graph
import torch

torch.manual_seed(0)
rate = torch.tensor(0.1, requires_grad=True)
w = torch.randn(3)
direction = torch.randn(3)
w.data -= (step := rate * direction)
loss = (step ** 2).sum()
loss.backward()
print([round(v, 4) for v in w.tolist()], round(rate.grad.item(), 4))
