# attacks: TPL014
# promise: nobody asks which tensor it is
import torch

torch.manual_seed(0)
names = {}
left, right = torch.randn(2, 2), torch.randn(2, 2)
for name, tensor in (("left", left), ("right", right)):
    names[tensor] = name
left.clone()
product = left @ right
for operand in (left, right):
    print(names.get(operand, "unknown"), round(operand.sum().item(), 5))
print(round(product.sum().item(), 5))
