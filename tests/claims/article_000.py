"""Article 000: in-place operations, what copies and what shares, `clone` and `detach`."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from claim import bytes_kept, claim, error_of, kept_for_backward


def shares(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are in the same storage."""
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


@claim("An operation whose name ends in `_` changes the tensor's own memory and allocates no new one.", holds=True)
def in_place_keeps_the_memory(device: str) -> bool:
    x = torch.ones(4, device=device)
    before = x.data_ptr()
    x.add_(1)
    return x.data_ptr() == before and x.tolist() == [2, 2, 2, 2]


@claim("`+=` and `*=` on a tensor are in-place operations, too.", holds=True)
def augmented_assignment_is_in_place(device: str) -> bool:
    x = torch.ones(4, device=device)
    alias = x
    x += 1
    x *= 3
    return alias is x and alias.tolist() == [6, 6, 6, 6]


@claim("An out-of-place ReLU allocates as many bytes as its input has, an in-place one allocates none.", holds=True)
def in_place_relu_allocates_nothing(device: str) -> bool:
    x = torch.randn(1000, device=device)
    outside, inside = F.relu(x), F.relu_(x)
    return not shares(outside, x) and outside.untyped_storage().nbytes() == 4000 and shares(inside, x)


@claim("An in-place operation can overwrite values that the gradient needs.", holds=True, rules=("TPL011",))
def in_place_overwrites_what_backward_needs(device: str) -> bool:
    x = torch.ones(3, device=device, requires_grad=True)
    y = x.sigmoid()
    y.mul_(2)
    return "modified by an inplace operation" in error_of(lambda: y.sum().backward())


@claim("An in-place operation rewrites the graph: the tensor, and a view of it, get another creator.", holds=True)
def in_place_changes_the_creator(device: str) -> bool:
    x = torch.ones(3, device=device, requires_grad=True)
    y = x * 2
    view = y[:2]
    creators = (y.grad_fn, view.grad_fn)
    y.add_(1)
    return y.grad_fn is not creators[0] and view.grad_fn is not creators[1]


@claim(
    "In-place operations rarely lower the memory that training needs, because autograd frees and reuses buffers anyway.",
    holds=True,
    note="Of a ReLU behind a linear layer, autograd keeps one activation either way. What the in-place form saves is the "
    "moment in which input and output are both there.",
    rules=("TPL011",),
)
def in_place_activation_saves_no_activation(device: str) -> bool:
    def kept(inplace: bool) -> int:
        model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(inplace), nn.Linear(64, 8)).to(device)
        with kept_for_backward() as references:
            out = model(torch.ones(16, 8, device=device))
        found = bytes_kept(references)
        del out
        return found

    return kept(inplace=True) == kept(inplace=False) > 0


@claim("The array of `tensor.numpy()` shares the tensor's memory.", holds=True, rules=("TPL201",), devices=("cpu",))
def numpy_shares(device: str) -> bool:
    x = torch.ones(2, device=device)
    x.numpy()[0] = 5
    return x.tolist() == [5, 1]


@claim("`view` shares memory, though `id` gives another number.", holds=True, rules=("TPL202",))
def view_shares_under_another_id(device: str) -> bool:
    x = torch.ones(4, device=device)
    y = x.view(2, 2)
    y[0, 0] = 5
    return id(x) != id(y) and x.tolist() == [5, 1, 1, 1]


@claim("`x[:]` shares memory with `x`.", holds=True)
def slice_shares(device: str) -> bool:
    x = torch.ones(2, device=device)
    y = x[:]
    y[0] = 5
    return x.tolist() == [5, 1]


@claim(
    "`torch.from_numpy` shares the array's memory: `add_` on the tensor changes both.",
    holds=True,
    rules=("TPL201",),
    devices=("cpu",),
)
def from_numpy_shares(device: str) -> bool:
    a = np.ones(4)
    b = torch.from_numpy(a).to(device)
    b.add_(1)
    return a.tolist() == b.tolist() == [2, 2, 2, 2]


@claim("`torch.detach` gives a tensor that shares memory and is out of the graph.", holds=True, rules=("TPL008", "TPL009"))
def detach_shares_and_leaves_the_graph(device: str) -> bool:
    a = torch.ones(2, device=device, requires_grad=True)
    b = torch.detach(a * 1)
    c = torch.detach(a)
    return b.grad_fn is None and not b.requires_grad and shares(a, c)


@claim(
    "A module's forward shares memory: its output is a shallow copy.",
    holds=False,
    note="A layer's output is new memory, "
    "unless the layer gives its very input back, as `nn.Identity` and a dropout in evaluation mode do.",
)
def forward_shares(device: str) -> bool:
    x = torch.ones(2, 4, device=device)
    return all(shares(layer.to(device)(x), x) for layer in (nn.Linear(4, 4), nn.ReLU(), nn.LayerNorm(4)))


@claim(
    "`index_select`, `masked_select` and `gather` give tensors that share memory.",
    holds=False,
    note="All three copy.",
    rules=("TPL008", "TPL203"),
)
def selections_share(device: str) -> bool:
    x = torch.arange(4.0, device=device)
    index = torch.tensor([0, 1], device=device)
    chosen = (x.index_select(0, index), x.masked_select(x > 1), x.gather(0, index))
    return any(shares(part, x) for part in chosen)


@claim("`clone` copies and stays in the graph.", holds=True, rules=("TPL008", "TPL009"))
def clone_copies_within_the_graph(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    y = x.clone()
    return not shares(x, y) and y.requires_grad and type(y.grad_fn).__name__ == "CloneBackward0"


@claim("Turning arrays into tensors and back takes no copy, whatever their size.", holds=True, devices=("cpu",))
def conversions_copy_nothing(device: str) -> bool:
    a = np.ones(1_000_000)
    b = torch.from_numpy(a).to(device)
    return b.data_ptr() == a.ctypes.data == b.numpy().ctypes.data


@claim("`y = y + x` makes a new tensor in new memory, and the name then stands for it.", holds=True)
def addition_takes_new_memory(device: str) -> bool:
    x, y = torch.tensor([1, 2], device=device), torch.tensor([3, 4], device=device)
    old = y
    y = y + x
    return id(y) != id(old) and not shares(y, old)


@claim(
    "Two equal `id`s say that two names stand for the same memory; unequal ones say nothing.",
    holds=False,
    note="True of two tensors that are both alive. An `id` that was stored outlives its tensor and is given out again.",
    rules=("TPL202",),
)
def equal_ids_mean_the_same_memory(device: str) -> bool:
    for _ in range(100):
        first = torch.ones(3, device=device)
        stored = id(first)
        del first
        second = torch.zeros(3, device=device)
        if id(second) == stored:
            return False
    return True


@claim("`y[:] = y + x` puts the sum into `y`'s own memory.", holds=True, note="The sum itself is computed in new memory first.")
def slice_assignment_keeps_the_memory(device: str) -> bool:
    x, y = torch.tensor([1, 2], device=device), torch.tensor([3, 4], device=device)
    identity, memory = id(y), y.data_ptr()
    y[:] = y + x
    return id(y) == identity and y.data_ptr() == memory and y.tolist() == [4, 6]


@claim("`torch.add(x, y, out=y)`, `y += x` and `y.add_(x)` keep `y`'s memory.", holds=True)
def out_and_in_place_keep_the_memory(device: str) -> bool:
    x, y = torch.tensor([1, 2], device=device), torch.tensor([3, 4], device=device)
    identity, memory = id(y), y.data_ptr()
    torch.add(x, y, out=y)
    y += x
    y.add_(x)
    return id(y) == identity and y.data_ptr() == memory and y.tolist() == [6, 10]


@claim(
    "Assigning a tensor to another name copies nothing: who wants the old values needs `clone`.", holds=True, rules=("TPL009",)
)
def assignment_copies_nothing(device: str) -> bool:
    w = torch.ones(2, device=device)
    old, kept = w, w.clone()
    w.add_(1)
    return old.tolist() == [2, 2] and kept.tolist() == [1, 1]


@claim(
    "After `a.data *= 3` a tensor from `a.detach()` has changed and one from `a.clone()` has not.",
    holds=True,
    rules=("TPL001", "TPL009"),
)
def data_change_reaches_detached(device: str) -> bool:
    a = torch.tensor(1.0, device=device, requires_grad=True)
    b, c = a.clone(), a.detach()
    a.data *= 3
    return (a.item(), b.item(), c.item()) == (3, 1, 3)


@claim("What `detach` gave changes when the original is updated.", holds=True, rules=("TPL009",))
def detached_follows_updates(device: str) -> bool:
    w = nn.Parameter(torch.ones(2, device=device))
    old = w.detach()
    w.sum().backward()
    torch.optim.SGD([w], lr=0.5).step()
    return old.tolist() == [0.5, 0.5]


@claim("A detached tensor that shares memory has another `id`.", holds=True, rules=("TPL202",))
def detached_has_another_id(device: str) -> bool:
    a = torch.ones(2, device=device, requires_grad=True)
    b = a.detach()
    return id(a) != id(b) and a.data_ptr() == b.data_ptr()


@claim(
    "Gradients pass through a clone to its source and add up there; the clone itself keeps none.", holds=True, rules=("TPL010",)
)
def clone_passes_gradients_on(device: str) -> bool:
    a = torch.tensor(1.0, device=device, requires_grad=True)
    copy = a.clone()
    (a**2).backward()
    (a**2 + copy * 3).backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return copy.grad is None and a.grad is not None and a.grad.item() == 7


@claim("Of a tensor that requires grad, `clone()` requires grad, `detach()` and `clone().detach()` do not.", holds=True)
def who_requires_grad(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    return (x.clone().requires_grad, x.detach().requires_grad, x.clone().detach().requires_grad) == (True, False, False)


@claim(
    "A clone of a tensor that requires no grad, made to require it, has a gradient of its own; the source gets none.",
    holds=True,
)
def clone_as_a_leaf_of_its_own(device: str) -> bool:
    a = torch.tensor(1.0, device=device)
    copy = a.clone()
    copy.requires_grad_()
    (copy**2).backward()
    return a.grad is None and copy.grad is not None and copy.grad.item() == 2


@claim(
    "`resize_`, `resize_as_`, `set_` and `transpose_` raise or warn on what `detach()` gave.",
    holds=False,
    note="None of the four does.",
    rules=("TPL008",),
)
def shape_changes_refused_on_detached(device: str) -> bool:
    def caught(change: str, *arguments: object) -> bool:
        target = torch.ones(2, 3, device=device, requires_grad=True).detach()
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            return bool(error_of(lambda: getattr(target, change)(*arguments)) or heard)

    other = torch.ones(3, 2, device=device)
    return any([caught("resize_", 3, 2), caught("resize_as_", other), caught("set_", other), caught("transpose_", 0, 1)])


@claim(
    "`resize_`, `resize_as_`, `set_` and `transpose_` raise or warn on what `clone()` gave.",
    holds=False,
    note="`resize_` and `resize_as_` raise, because the clone requires grad; `set_` and `transpose_` do not.",
)
def shape_changes_refused_on_clones(device: str) -> bool:
    def caught(change: str, *arguments: object) -> bool:
        target = torch.ones(2, 3, device=device, requires_grad=True).clone()
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            return bool(error_of(lambda: getattr(target, change)(*arguments)) or heard)

    other = torch.ones(3, 2, device=device)
    assert caught("resize_", 3, 2) and caught("resize_as_", other)
    return caught("set_", other) and caught("transpose_", 0, 1)


@claim(
    "If a program changes tensors in place and nothing is raised, its gradients are right.",
    holds=False,
    note="True of what autograd sees. A change through `.data` or an array from `.numpy()` is not seen.",
    rules=("TPL001", "TPL008"),
)
def silence_means_right_gradients(device: str) -> bool:
    a = torch.tensor([1.0, 2.0], device=device, requires_grad=True)
    out = a.sigmoid()
    right = (out * (1 - out)).tolist()
    out.data.zero_()
    out.sum().backward()
    assert a.grad is not None
    return a.grad.tolist() == right
