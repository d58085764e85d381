# attacks: TPL001
# promise: a leaf that has just been made was saved by nothing
# stays safe: yes
"""A perturbation starts at random inside the ball."""
import torch

torch.manual_seed(0)
x = torch.rand(2, 4)
delta = torch.zeros(2, 4, requires_grad=True)
delta.data.uniform_(-0.1, 0.1)
loss = ((x + delta) ** 3).sum()
loss.backward()
print(round(loss.item(), 5), delta.is_leaf, delta.requires_grad)
print([round(v, 5) for v in delta.grad.flatten().tolist()])
