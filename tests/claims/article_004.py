"""Article 004: making tensors of arrays, `ModuleList`, `detach`, saving and loading."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor, nn

from article_000 import shares
from claim import claim, error_of


@claim("`from_numpy` keeps the array's dtype.", holds=True, rules=("TPL105",), devices=("cpu",))
def from_numpy_keeps_the_dtype(device: str) -> bool:
    dtypes = {np.int64: torch.int64, np.float64: torch.float64, np.uint8: torch.uint8}
    return all(torch.from_numpy(np.ones(1, numpy)).to(device).dtype is dtype for numpy, dtype in dtypes.items())


@claim(
    "`torch.Tensor` is another name for `torch.FloatTensor`.",
    holds=False,
    note="Another class. It makes tensors of the default dtype, which can be set.",
    rules=("TPL105",),
    devices=("cpu",),
)
def tensor_is_float_tensor(device: str) -> bool:
    torch.set_default_dtype(torch.float64)
    try:
        return torch.Tensor([1]).to(device).dtype is torch.FloatTensor([1]).dtype
    finally:
        torch.set_default_dtype(torch.float32)


@claim(
    "`torch.Tensor` of an int64 array is a float tensor in memory of its own.", holds=True, rules=("TPL105",), devices=("cpu",)
)
def tensor_of_ints_is_a_float_copy(device: str) -> bool:
    n = np.array([1, 2], dtype=np.int64)
    t = torch.Tensor(n).to(device)
    n[0] = 5
    return t.dtype is torch.float32 and t.tolist() == [1, 2]


@claim("`torch.tensor` always copies.", holds=True, rules=("TPL208",), devices=("cpu",))
def tensor_copies(device: str) -> bool:
    n = np.ones(2, dtype=np.float32)
    return torch.tensor(n, device=device).data_ptr() != n.ctypes.data


@claim(
    "`torch.tensor(x)` of a tensor is `x.clone().detach()`.", holds=True, note="With a warning that says so.", rules=("TPL207",)
)
def tensor_of_a_tensor_is_a_detached_clone(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True) * 2
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        y = torch.tensor(x)
    return torch.equal(y, x) and not shares(y, x) and not y.requires_grad and "detach().clone()" in str(heard[0].message)


@claim(
    "`torch.as_tensor` of an array copies nothing.",
    holds=True,
    note="Unless another dtype or device is asked for.",
    rules=("TPL105", "TPL208"),
    devices=("cpu",),
)
def as_tensor_shares(device: str) -> bool:
    n = np.ones(2, dtype=np.float32)
    same, other = torch.as_tensor(n, device=device), torch.as_tensor(n, dtype=torch.float64, device=device)
    return same.data_ptr() == n.ctypes.data != other.data_ptr()


@claim(
    "With inputs of one shape, `cudnn.benchmark = True` makes convolutions much faster.",
    holds=True,
    rules=("TPL403",),
    note="How much depends on the device and the shapes; the experiment asks for no slowdown beyond noise.",
    devices=("cuda",),
)
def cudnn_benchmark_helps(device: str) -> bool:
    def milliseconds(benchmark: bool) -> float:
        torch.backends.cudnn.benchmark = benchmark
        layer, x = nn.Conv2d(64, 128, 5, padding=2).to(device), torch.randn(16, 64, 56, 56, device=device)
        for _ in range(5):
            layer(x)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(20):
            layer(x)
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end))

    chosen = torch.backends.cudnn.benchmark
    try:
        return milliseconds(benchmark=True) <= milliseconds(benchmark=False) * 1.1
    finally:
        torch.backends.cudnn.benchmark = chosen


class _Stack(nn.Module):
    def __init__(self, *, registered: bool) -> None:
        super().__init__()
        layers = [nn.Linear(10, 10) for _ in range(2)]
        self.layers = nn.ModuleList(layers) if registered else layers

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


@claim(
    "Modules in a `ModuleList` are registered, and their parameters are the network's; in a list they are not.",
    holds=True,
    rules=("TPL301",),
)
def module_list_registers(device: str) -> bool:
    listed, plain = _Stack(registered=True).to(device), _Stack(registered=False)
    sizes = [tuple(p.shape) for p in listed.parameters()]
    return sizes == [(10, 10), (10,)] * 2 and not list(plain.parameters())


@claim(
    "A `ModuleList` has all the methods of a list.",
    holds=False,
    note="It has `append`, `extend`, `insert`, `pop`; not `remove`, `index`, `count`, `clear`, `copy`, `reverse`, `sort`.",
    rules=("TPL301",),
)
def module_list_is_a_list(device: str) -> bool:
    made = nn.ModuleList([nn.Identity()]).to(device)
    assert all(hasattr(made, name) for name in ("append", "extend", "insert", "pop"))
    return all(hasattr(made, name) for name in dir(list) if not name.startswith("_"))


@claim(
    "`.data` shares memory, requires no grad, and autograd does not see what is done to it.",
    holds=True,
    rules=("TPL001", "TPL002"),
)
def data_is_not_tracked(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    y = x * 2
    version = y._version
    y.data.add_(1)
    return y._version == version and y.tolist() == [3, 3] and not y.data.requires_grad


@claim("`.detach()` reports in-place changes to autograd.", holds=True, rules=("TPL002", "TPL008"))
def detach_reports_changes(device: str) -> bool:
    y = torch.ones(2, device=device, requires_grad=True) * 2
    version = y._version
    y.detach().add_(1)
    return y._version == version + 1


@claim(
    "Setting a tensor's `grad_fn` to None cuts the graph there.", holds=False, note="It cannot be set; `detach_()` does that."
)
def grad_fn_can_be_set(device: str) -> bool:
    y = torch.ones(2, device=device, requires_grad=True) * 2
    return error_of(lambda: setattr(y, "grad_fn", None)) == ""


@claim(
    "With `requires_grad` set to False, no gradient is computed for a tensor.",
    holds=True,
    note="A leaf, that is; of a computed tensor the flag cannot be changed.",
    rules=("TPL006", "TPL307"),
)
def flag_off_means_no_gradient(device: str) -> bool:
    x, y = (torch.ones(2, device=device, requires_grad=True) for _ in range(2))
    x.requires_grad = False
    (x * y).sum().backward()
    refused = error_of(lambda: setattr(y * 2, "requires_grad", False))
    return x.grad is None and y.grad is not None and "leaf variables" in refused


@claim("`m.detach_()` makes `m` a leaf that requires no grad.", holds=True)
def detach_in_place_makes_a_leaf(device: str) -> bool:
    m = torch.ones(2, device=device, requires_grad=True) * 2
    m.detach_()
    return m.is_leaf and not m.requires_grad and m.grad_fn is None


@claim(
    "If x leads to m and m to y, then after `m.detach_()` a `y.backward()` no longer reaches x.",
    holds=False,
    note="A `y` that was computed before keeps its way to x. One that is computed afterwards has no graph: `backward` raises.",
)
def detaching_later_cuts_what_was_computed(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    m = x * 2
    y = (m * 3).sum()
    m.detach_()
    y.backward()
    assert "does not require grad" in error_of(lambda: (m * 3).sum().backward())
    return x.grad is None


@claim("`detach_()` changes the tensor itself, `detach()` makes a new one.", holds=True, rules=("TPL014",))
def detach_makes_a_new_tensor(device: str) -> bool:
    m = torch.ones(2, device=device, requires_grad=True) * 2
    apart = m.detach()
    kept_its_graph = m.grad_fn is not None
    return apart is not m and kept_its_graph and m.detach_() is m


@claim(
    "`clone` is new memory in the graph, `detach` shared memory out of it, `clone().detach()` new memory out of it.",
    holds=True,
    rules=("TPL008", "TPL009"),
)
def table_of_copies(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    found = [(shares(y, x), y.requires_grad) for y in (x.clone(), x.detach(), x.clone().detach())]
    return found == [(False, True), (True, False), (False, False)]
