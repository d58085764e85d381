# attacks: TPL001
# promise: a function called in the statement hands no graph to anybody else
"""Reptile: the inner loop returns plain weights and leaves its last loss, with graph, in a list of the caller."""
import torch

torch.manual_seed(0)
slow = torch.randn(2, requires_grad=True)
outer_losses = []


def adapt(task):
    fast = slow * 1.0
    for _ in range(2):
        (g,) = torch.autograd.grad(((fast - task) ** 2).sum(), fast, create_graph=True)
        fast = fast - 0.1 * g
    outer_losses.append(((fast - task) ** 2).sum())
    return fast.detach()


for task in torch.randn(3, 2):
    slow.data.lerp_(adapt(task), 0.5)
    outer_losses[-1].backward()
print([round(v.item(), 5) for v in outer_losses], [round(v, 5) for v in slow.tolist()])
print([round(v, 5) for v in slow.grad.tolist()])
