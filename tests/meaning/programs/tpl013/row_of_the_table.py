# attacks: TPL013
# promise: an item can be assigned its own copy
import torch

torch.manual_seed(0)
table = torch.randn(3, 4, requires_grad=True)
table[0].clone
loss = -table.log_softmax(1)[torch.arange(3), torch.tensor([1, 2, 0])].mean()
loss.backward()
print(round(loss.item(), 5), table.is_leaf, [round(v, 4) for v in table.grad.flatten().tolist()])
