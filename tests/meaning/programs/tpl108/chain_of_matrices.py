# attacks: TPL108
# promise: the product of what may be matrices is the same, where nobody awaits that it is refused
# stays safe: yes
import torch


def product(first, *others):
    return torch.chain_matmul(first, others[0], first)


a, b = torch.arange(4.0).reshape(2, 2), torch.eye(2)
print(product(a, b), torch.chain_matmul(a, b))
