# attacks: TPL010
# promise: an item of a leaf's gradient is wanted
# shows: the gradient was None
# stays safe: yes
import torch

torch.manual_seed(0)
weights = torch.randn(3, requires_grad=True)
x = torch.randn(5, 3)
loss = (x @ weights).pow(2).mean()
loss.backward()
print("first:", weights[0].grad)
print([round(v, 5) for v in weights.grad.tolist()])
