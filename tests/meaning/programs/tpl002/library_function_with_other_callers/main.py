# attacks: TPL002
# promise: the calls in the file are all the calls that there are
"""A stop-gradient helper of a library is used on a prediction."""
import torch
from helpers import centred

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
x = torch.randn(6, 3)
prediction = x @ w
target = centred(prediction)
loss = (prediction - target).pow(2).sum()
loss.backward()
print(target.requires_grad, round(loss.item(), 5), [round(v, 5) for v in w.grad.tolist()])
