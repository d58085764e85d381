"""Article 003: the computational graph, memory, functions that change shapes, and a model's modes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from article_000 import shares
from claim import alive, bytes_kept, claim, error_of, kept_for_backward


def bytes_kept_by(forward: Callable[[], object]) -> int:
    """How many bytes autograd keeps for the backward of what ``forward`` computes."""
    with kept_for_backward() as references:
        result = forward()
    found = bytes_kept(references)
    del result
    return found


@claim("The graph links each result to the operation that made it, and that to where its inputs came from.", holds=True)
def graph_links_operations(device: str) -> bool:
    x = torch.tensor(2.0, device=device, requires_grad=True)
    y = (x * 3).log()
    assert y.grad_fn is not None
    product = y.grad_fn.next_functions[0][0]
    return type(y.grad_fn).__name__ == "LogBackward0" and type(product).__name__ == "MulBackward0"


@claim(
    "A leaf is a tensor that the user made and that requires grad.",
    holds=False,
    note="Such a tensor is a leaf, but so is every tensor that requires no grad, computed or not.",
    rules=("TPL010",),
)
def leaves_require_grad(device: str) -> bool:
    assert torch.ones(1, device=device, requires_grad=True).is_leaf
    return not (torch.ones(1, device=device) * 2).is_leaf


@claim(
    "The graph is built anew by each forward, and freed by `backward` unless `retain_graph=True`.",
    holds=True,
    rules=("TPL012",),
)
def backward_frees_the_graph(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    freed, retained = x.exp().sum(), x.exp().sum()
    freed.backward()
    retained.backward(retain_graph=True)
    second = "backward through the graph a second time"
    return second in error_of(freed.backward) and error_of(retained.backward) == ""


@claim(
    "`backward` leaves gradients in the leaves; a value in between keeps its own after `retain_grad()` only.",
    holds=True,
    rules=("TPL010",),
)
def intermediate_gradients_need_retain_grad(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    forgotten, retained = x * 2, x * 2
    retained.retain_grad()
    (forgotten + retained).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return forgotten.grad is None and retained.grad is not None and x.grad is not None


@claim("For z = log(x1 * x2) * sin(x2) at (2, 3), z is 0.25285, dz/dx1 is 0.07056 and dz/dx2 is -1.72679.", holds=True)
def worked_example(device: str) -> bool:
    x1, x2 = (torch.tensor(value, device=device, requires_grad=True) for value in (2.0, 3.0))
    z = torch.log(x1 * x2) * torch.sin(x2)
    z.backward()
    assert x1.grad is not None and x2.grad is not None
    found = (z.item(), x1.grad.item(), x2.grad.item())
    return all(math.isclose(one, other, abs_tol=1e-5) for one, other in zip(found, (0.25285, 0.07056, -1.72679)))


@claim("The gradient of a result with respect to itself is 1.", holds=True)
def gradient_of_itself(device: str) -> bool:
    z = torch.ones((), device=device, requires_grad=True) * 2
    z.retain_grad()
    z.backward()
    return z.grad is not None and z.grad.item() == 1


@claim("Checkpointing lowers the memory that activations take.", holds=True)
def checkpoint_keeps_less(device: str) -> bool:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(32, 32), nn.Tanh()) for _ in range(4)]).to(device)
    x = torch.ones(64, 32, device=device, requires_grad=True)
    return bytes_kept_by(lambda: checkpoint(model, x, use_reentrant=False)) < bytes_kept_by(lambda: model(x))


@claim("A lower precision lowers the memory that activations take.", holds=True)
def lower_precision_keeps_less(device: str) -> bool:
    def kept(dtype: torch.dtype) -> int:
        x = torch.ones(64, 32, device=device, dtype=dtype, requires_grad=True)
        return bytes_kept_by(lambda: x.exp())

    return 0 < kept(torch.bfloat16) * 2 == kept(torch.float32)


@claim("`detach()` on a result whose gradient is not needed lets its graph go.", holds=True, rules=("TPL004",))
def detach_lets_the_graph_go(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    with kept_for_backward() as activations:
        y = x.exp()
    before = alive(activations)
    y = y.detach()
    return before == 1 and alive(activations) == 0


@claim(
    "`reshape` copies a tensor that is not contiguous.",
    holds=False,
    note="Only where no view has the wanted shape.",
    rules=("TPL204",),
)
def reshape_copies_what_is_not_contiguous(device: str) -> bool:
    x = torch.arange(12.0, device=device).view(3, 4)[:, :2]
    assert not x.is_contiguous() and not shares(x.t().reshape(6), x)
    return not shares(x.reshape(3, 2, 1), x)


@claim("`view` shares memory.", holds=True)
def view_shares(device: str) -> bool:
    x = torch.ones(4, device=device)
    return shares(x.view(2, 2), x)


@claim(
    "`view` needs a contiguous tensor; on others it takes `.contiguous()` first.",
    holds=False,
    note="It raises where the strides do not allow the shape, as in merging transposed axes; a new axis of one is fine.",
    rules=("TPL204",),
)
def view_needs_contiguous(device: str) -> bool:
    x = torch.arange(12.0, device=device).view(3, 4).t()
    assert "view size is not compatible" in error_of(lambda: x.view(12))
    return error_of(lambda: x.view(4, 3, 1)) != ""


@claim("`unsqueeze` inserts an axis of one and copies nothing.", holds=True)
def unsqueeze_shares(device: str) -> bool:
    x = torch.ones(4, device=device)
    return x.unsqueeze(0).shape == (1, 4) and shares(x.unsqueeze(0), x)


@claim("`squeeze` without a dim drops all axes of one, and copies nothing.", holds=True, rules=("TPL205",))
def squeeze_drops_all(device: str) -> bool:
    x = torch.ones(1, 4, 1, device=device)
    return x.squeeze().shape == (4,) and x.squeeze(-1).shape == (1, 4) and shares(x.squeeze(), x)


@claim(
    "`expand` and `expand_as` copy nothing, so that a write can change many elements at once.", holds=True, rules=("TPL203",)
)
def expand_shares(device: str) -> bool:
    x = torch.zeros(1, 2, device=device)
    rows, like = x.expand(3, 2), x.expand_as(torch.ones(3, 2, device=device))
    rows[0, 0] = 1
    return rows.tolist() == [[1, 0]] * 3 and shares(like, x)


@claim("`expand` works on axes of one only.", holds=True, note="And it can add axes in front.")
def expand_needs_axes_of_one(device: str) -> bool:
    return "must match the existing size" in error_of(lambda: torch.zeros(2, 2, device=device).expand(4, 2))


@claim("`transpose` and `permute` copy nothing; they change the strides.", holds=True, rules=("TPL204", "TPL206"))
def transposed_views_have_other_strides(device: str) -> bool:
    x = torch.zeros(2, 3, 4, device=device)
    swapped, turned = x.transpose(0, 1), x.permute(2, 0, 1)
    return shares(swapped, x) and swapped.stride() == (4, 12, 1) and shares(turned, x) and turned.stride() == (1, 12, 4)


@claim("`contiguous` copies where it must, and only there.", holds=True)
def contiguous_copies_where_it_must(device: str) -> bool:
    x = torch.zeros(2, 3, device=device)
    return x.contiguous() is x and not shares(x.t().contiguous(), x)


@claim("`clone` does not share memory, `detach` does.", holds=True, rules=("TPL008", "TPL009"))
def clone_and_detach(device: str) -> bool:
    x = torch.ones(2, device=device)
    return not shares(x.clone(), x) and shares(x.detach(), x)


def _normalising(device: str) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5)).to(device)


@claim(
    "`train()` switches dropout on and has batch norm use, and keep, the batch's statistics; gradients are unaffected.",
    holds=True,
    rules=("TPL305", "TPL306"),
)
def training_mode(device: str) -> bool:
    model, x = _normalising(device).train(), torch.randn(64, 4, device=device) + 3
    y = model(x)
    running = model[0].running_mean
    return bool((y == 0).any()) and running.abs().sum().item() > 0 and y.requires_grad


@claim(
    "`eval()` switches dropout off and has batch norm use its running statistics and leave them; gradients are unaffected.",
    holds=True,
    rules=("TPL304", "TPL504"),
)
def evaluation_mode(device: str) -> bool:
    model, x = _normalising(device).eval(), torch.randn(64, 4, device=device) + 3
    y = model(x)
    return torch.allclose(y, x, atol=1e-3) and model[0].running_mean.abs().sum().item() == 0 and y.requires_grad


@claim("`no_grad()` records nothing and keeps nothing for a backward.", holds=True, rules=("TPL304",))
def no_grad_keeps_nothing(device: str) -> bool:
    x = torch.ones(2, device=device, requires_grad=True)
    with torch.no_grad():
        y = x.exp()
        return not y.requires_grad and bytes_kept_by(lambda: x.exp()) == 0


@claim("`no_grad()` leaves the layers in the mode they are in.", holds=True, rules=("TPL305",))
def no_grad_changes_no_mode(device: str) -> bool:
    model = _normalising(device).train()
    with torch.no_grad():
        y = model(torch.ones(64, 4, device=device) + torch.rand(64, 4, device=device))
    return model.training and bool((y == 0).any()) and model[0].running_mean.abs().sum().item() > 0
