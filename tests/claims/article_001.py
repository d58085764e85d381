"""Article 001: `Tensor` and `Variable`, `.data` and `detach`, `loss.data[0]` and `loss.item()`."""

from __future__ import annotations

import torch
from torch import nn
from torch.autograd import Variable

from claim import claim, error_of


@claim("What a `Variable` had, a tensor has: `data`, `grad` and `grad_fn`.", holds=True, rules=("TPL101",))
def tensors_have_what_variables_had(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    y = x * 2
    y.sum().backward()
    return x.grad is not None and y.grad_fn is not None and torch.equal(x.data, x)


@claim("`Tensor` and `Variable` are one class; `Variable(t)` gives a tensor.", holds=True, rules=("TPL101",))
def variable_gives_a_tensor(device: str) -> bool:
    x = Variable(torch.ones(2, device=device))
    return type(x) is torch.Tensor and isinstance(x, Variable)


@claim(
    "Wrapping in `Variable` still works and changes nothing: it is needless but harmless.",
    holds=False,
    note="`Variable(y)` of a computed `y` is cut off from the graph.",
    rules=("TPL101", "TPL007"),
)
def variable_is_harmless(device: str) -> bool:
    y = torch.ones(2, device=device, requires_grad=True) * 2
    return Variable(y).grad_fn is not None


@claim(
    "`torch.randn(…, requires_grad=True)` is the modern spelling of `Variable(torch.randn(…), requires_grad=True)`.",
    holds=True,
    rules=("TPL101",),
)
def factories_make_leaves(device: str) -> bool:
    torch.manual_seed(0)
    old = Variable(torch.randn(10, 20, device=device), requires_grad=True)
    torch.manual_seed(0)
    new = torch.randn((10, 20), device=device, requires_grad=True)
    return torch.equal(old, new) and old.is_leaf and new.is_leaf and old.requires_grad and new.requires_grad


@claim("`x.data` and `x.detach()` both share memory with `x` and do not require grad.", holds=True, rules=("TPL002",))
def data_and_detach_share(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    taken = (x.data, x.detach())
    return all(part.data_ptr() == x.data_ptr() and not part.requires_grad for part in taken)


@claim(
    "A change through `.data` goes unnoticed, and the gradient is computed from the changed values.",
    holds=True,
    rules=("TPL001", "TPL002"),
)
def data_changes_go_unnoticed(device: str) -> bool:
    a = torch.tensor([1.0, 2.0, 3.0], device=device, requires_grad=True)
    out = a.sigmoid()
    changed = out.data
    changed.zero_()
    out.sum().backward()
    return a.grad is not None and a.grad.tolist() == [0, 0, 0]


@claim("The same change through `.detach()` is noticed: `backward` raises.", holds=True, rules=("TPL001", "TPL002", "TPL008"))
def detached_changes_are_noticed(device: str) -> bool:
    a = torch.tensor([1.0, 2.0, 3.0], device=device, requires_grad=True)
    out = a.sigmoid()
    changed = out.detach()
    changed.zero_()
    return "modified by an inplace operation" in error_of(lambda: out.sum().backward())


@claim(
    "Whatever is changed through `.detach()`, `backward` raises.",
    holds=False,
    note="Only where backward needs the changed values: a product with a number does not.",
    rules=("TPL008", "TPL011"),
)
def every_detached_change_raises(device: str) -> bool:
    a = torch.ones(3, device=device, requires_grad=True)
    out = a * 2
    out.detach().zero_()
    return error_of(lambda: out.sum().backward()) != ""


@claim("`a.data.cpu().numpy()` gives an array of a tensor on any device, in the graph or not.", holds=True, rules=("TPL104",))
def data_cpu_numpy_works(device: str) -> bool:
    a = torch.ones(2, device=device, requires_grad=True) * 2
    return a.data.cpu().numpy().tolist() == [2, 2]


@claim("A loss has no dimensions since 0.4, so that `loss.data[0]` no longer works.", holds=True, rules=("TPL102",))
def losses_have_no_dimensions(device: str) -> bool:
    loss = nn.MSELoss()(torch.ones(2, device=device), torch.zeros(2, device=device))
    return loss.dim() == 0 and error_of(lambda: loss.data[0]).startswith("IndexError")


@claim("`loss.item()` gives a number of Python's.", holds=True, rules=("TPL102",))
def item_gives_a_number(device: str) -> bool:
    return type(torch.ones(2, device=device).sum().item()) is float


@claim(
    "`total_loss += loss.data[0]` lets the graph grow, and with it the memory.",
    holds=False,
    note="Where it does not raise, what is added has no history. It is `total_loss += loss` that lets the graph grow.",
    rules=("TPL004",),
)
def data_index_grows_the_graph(device: str) -> bool:
    weight = torch.ones(1, device=device, requires_grad=True)
    total: torch.Tensor | float = 0.0
    for _ in range(3):
        loss = weight * 2  # one element and one dimension, as losses had before 0.4
        total += loss.data[0]
    return isinstance(total, torch.Tensor) and total.grad_fn is not None


@claim("`total_loss += loss` keeps the history of every step.", holds=True, rules=("TPL004",))
def adding_the_loss_grows_the_graph(device: str) -> bool:
    weight = torch.ones(1, device=device, requires_grad=True)
    total: torch.Tensor | float = 0.0
    for _ in range(3):
        total += (weight * 2).sum()
    assert isinstance(total, torch.Tensor)
    node, additions = total.grad_fn, 0
    while type(node).__name__ == "AddBackward0":
        assert node is not None
        additions += 1
        node = node.next_functions[0][0]
    return additions == 3


@claim("`item()` is for one element only; for more there is `tolist()`.", holds=True)
def item_is_for_one_element(device: str) -> bool:
    x = torch.ones(2, device=device)
    return error_of(x.item).startswith("RuntimeError") and x.tolist() == [1, 1]
