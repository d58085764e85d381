"""Article 002: optimizers, autograd and freezing, arrays and tensors, memory that runs out."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import Variable

from claim import alive, claim, error_of, kept_for_backward


def two_layers(device: str) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)).to(device)


@claim("Subtracting `lr * grad` from every parameter by hand does what a step of `SGD` does.", holds=True, rules=("TPL001",))
def manual_update_is_sgd(device: str) -> bool:
    by_hand, by_optimizer = two_layers(device), two_layers(device)
    x = torch.ones(5, 4, device=device)
    for model in (by_hand, by_optimizer):
        model(x).sum().backward()
    for p in by_hand.parameters():
        assert p.grad is not None
        p.data.sub_(p.grad.data * 0.01)
    torch.optim.SGD(by_optimizer.parameters(), lr=0.01).step()
    return all(torch.allclose(a, b) for a, b in zip(by_hand.parameters(), by_optimizer.parameters()))


@claim("`momentum` and `weight_decay` are given to the optimizer where it is made.", holds=True)
def momentum_is_an_option(device: str) -> bool:
    def after_two_steps(**options: float) -> float:
        w = nn.Parameter(torch.ones(1, device=device))
        optimizer = torch.optim.SGD([w], lr=0.1, **options)
        for _ in range(2):
            optimizer.zero_grad()
            w.sum().backward()
            optimizer.step()
        return w.item()

    return after_two_steps(momentum=0.9) < after_two_steps() and after_two_steps(weight_decay=0.5) < after_two_steps()


@claim("A network can be called with a list of numbers.", holds=False, note="It takes tensors.")
def networks_take_lists(device: str) -> bool:
    return error_of(lambda: two_layers(device)([1, 2, 3, 4])) == ""


@claim(
    "`x = Variable(torch.ones(1), requires_grad=True); (x * 2).backward()` leaves 2 in `x.grad`.", holds=True, rules=("TPL101",)
)
def wrapped_leaf_gets_its_gradient(device: str) -> bool:
    x = Variable(torch.ones(1, device=device), requires_grad=True)
    (x * 2).backward()
    return x.grad is not None and x.grad.tolist() == [2]


@claim("A result requires grad if one of its inputs does, and only then.", holds=True)
def one_input_is_enough(device: str) -> bool:
    x, y = torch.randn(2, 2, device=device), torch.randn(2, 2, device=device)
    z = torch.randn(2, 2, device=device, requires_grad=True)
    return not (x + y).requires_grad and (x + z).requires_grad


@claim("`backward()` on a value without `grad_fn` raises.", holds=True, rules=("TPL007",))
def backward_needs_a_graph(device: str) -> bool:
    a = torch.ones(1, device=device) + 1
    return "does not require grad and does not have a grad_fn" in error_of(a.backward)


@claim(
    "If `backward()` raises for want of a graph, re-wrapping the values with `requires_grad=True` makes the gradients right.",
    holds=False,
    note="It makes `backward()` run. The model gets no gradients at all.",
    rules=("TPL007",),
)
def rewrapping_brings_gradients(device: str) -> bool:
    model = two_layers(device)
    out = model(torch.ones(5, 4, device=device))
    chosen = Variable(torch.from_numpy(out.cpu().data.numpy()[[0, 2]]).to(device), requires_grad=True)
    chosen.sum().backward()
    return all(p.grad is not None for p in model.parameters())


@claim(
    "`p.requres_grad = False`, so spelt, freezes a parameter.",
    holds=False,
    note="It sets an attribute that nothing reads. Rightly spelt, it freezes.",
    rules=("TPL005", "TPL006"),
)
def misspelt_flag_freezes(device: str) -> bool:
    model = two_layers(device)
    for p in model[0].parameters():
        p.requres_grad = False  # type: ignore[attr-defined]
    model(torch.ones(5, 4, device=device)).sum().backward()
    return model[0].weight.grad is None


@claim(
    "Parameters with `requires_grad = False` get no gradient, and an optimizer that is given them leaves them as they are.",
    holds=True,
    note="Unless a gradient is left from before: then momentum and weight decay go on.",
    rules=("TPL307",),
)
def frozen_parameters_stay(device: str) -> bool:
    model = two_layers(device)
    for p in model[0].parameters():
        p.requires_grad = False
    before = [p.detach().clone() for p in model.parameters()]
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, weight_decay=0.1)
    model(torch.ones(5, 4, device=device)).sum().backward()
    optimizer.step()
    moved = [not torch.equal(old, new) for old, new in zip(before, model.parameters())]
    return moved == [False, False, True, True]


@claim("A newly made layer requires grad, also in a model whose other layers are frozen.", holds=True)
def new_layers_train(device: str) -> bool:
    model = two_layers(device).requires_grad_(False)
    model[1] = nn.Linear(3, 5)
    return [p.requires_grad for p in model.parameters()] == [False, False, True, True]


@claim(
    "Giving the optimizer the last layer's parameters only is another way to freeze the others.",
    holds=True,
    note="They do not change, but their gradients are still computed, kept, and added up from step to step.",
    rules=("TPL307",),
)
def optimizer_of_one_layer_freezes_the_rest(device: str) -> bool:
    model = two_layers(device)
    before = model[0].weight.detach().clone()
    optimizer = torch.optim.SGD(model[1].parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(5, 4, device=device)).sum().backward()
    optimizer.step()
    assert model[0].weight.grad is not None
    return torch.equal(before, model[0].weight)


@claim("`torch.from_numpy` does not copy.", holds=True, rules=("TPL201",), devices=("cpu",))
def from_numpy_does_not_copy(device: str) -> bool:
    n = np.array([1.0, 2.0], dtype=np.float32)
    t = torch.from_numpy(n).to(device)
    n[0] = 5
    return t.tolist() == [5, 2]


@claim("`torch.FloatTensor` of a float32 array does not copy either.", holds=True, rules=("TPL105", "TPL201"), devices=("cpu",))
def float_tensor_of_floats_shares(device: str) -> bool:
    n = np.array([1.0, 2.0], dtype=np.float32)
    t = torch.FloatTensor(n).to(device)
    n[0] = 5
    return t.tolist() == [5, 2]


@claim(
    "`torch.FloatTensor` of an int array copies, because the type has to change.",
    holds=True,
    rules=("TPL105", "TPL201"),
    devices=("cpu",),
)
def float_tensor_of_ints_copies(device: str) -> bool:
    n = np.array([1, 2], dtype=np.int32)
    t = torch.FloatTensor(n).to(device)
    n[0] = 5
    return t.dtype is torch.float32 and t.tolist() == [1, 2]


@claim("While a model trains, `out.cpu().numpy()` raises, and `.data` in between helps.", holds=True, rules=("TPL104",))
def numpy_refuses_what_requires_grad(device: str) -> bool:
    out = two_layers(device)(torch.ones(1, 4, device=device))
    return "requires grad" in error_of(lambda: out.cpu().numpy()) and out.cpu().data.numpy().shape == (1, 2)


@claim(
    "In evaluation mode the `.data` is not needed.",
    holds=False,
    note="`eval()` does not stop autograd; `torch.no_grad()` does.",
    rules=("TPL104", "TPL304"),
)
def evaluation_mode_needs_no_data(device: str) -> bool:
    model = two_layers(device).eval()
    return error_of(lambda: model(torch.ones(1, 4, device=device)).cpu().numpy()) == ""


@claim(
    "Of a tensor on the CPU, `out.numpy()` just works.",
    holds=False,
    note="Only of one that does not require grad.",
    rules=("TPL104",),
    devices=("cpu",),
)
def numpy_just_works_on_the_cpu(device: str) -> bool:
    plain = torch.ones(2, device=device)
    assert plain.numpy().tolist() == [1, 1]
    return error_of(lambda: (plain.requires_grad_() * 2).numpy()) == ""


@claim("A tensor on the GPU has to be moved to the CPU before `numpy()`.", holds=True, devices=("cuda",))
def numpy_needs_the_cpu(device: str) -> bool:
    return error_of(lambda: torch.ones(2, device=device).numpy()).startswith("TypeError")


@claim("`total_loss += loss` keeps the graphs of all steps alive.", holds=True, rules=("TPL004",))
def sums_keep_graphs_alive(device: str) -> bool:
    return _activations_alive_after_three_steps(device, lambda loss: loss) == 3


@claim("`total_loss += float(loss)` does not.", holds=True, rules=("TPL004",))
def float_lets_graphs_go(device: str) -> bool:
    return _activations_alive_after_three_steps(device, float) == 0


def _activations_alive_after_three_steps(device: str, taken: Callable[[Tensor], Tensor | float]) -> int:
    """How many steps' activations live on when the sum of what is ``taken`` of the losses is all that is kept."""
    weight = torch.ones(3, device=device, requires_grad=True)
    total: Tensor | float = 0.0
    with kept_for_backward() as activations:
        for _ in range(3):
            loss = (weight * 2).exp().sum()  # exp needs its result for the backward
            total = total + taken(loss)
        del loss
    return alive(activations)


@claim("`float(loss)` gives a differentiable value without history.", holds=False, note="It gives a number of Python's.")
def float_gives_a_tensor(device: str) -> bool:
    return isinstance(float(torch.ones((), device=device, requires_grad=True)), Tensor)


@claim("A local name keeps its tensor until the function ends; `del` lets it go earlier.", holds=True, rules=("TPL209",))
def del_lets_go(device: str) -> bool:
    x = torch.ones(2, device=device)
    reference = weakref.ref(x)
    alive = reference() is not None
    del x
    return alive and reference() is None


@claim("A tensor that is an attribute of an object lives as long as the object has it.", holds=True)
def attributes_keep_tensors(device: str) -> bool:
    class Holder:
        kept: Tensor | None = None

    holder = Holder()
    holder.kept = torch.ones(2, device=device)
    reference = weakref.ref(holder.kept)
    alive = reference() is not None
    del holder
    return alive and reference() is None


@claim(
    "The last value of a name that a loop binds is still there, and takes memory, in the code behind the loop.",
    holds=True,
    rules=("TPL209",),
)
def loop_variables_outlive_the_loop(device: str) -> bool:
    references = []
    for _ in range(3):
        intermediate = torch.ones(2, device=device)
        references.append(weakref.ref(intermediate))
    return [reference() is not None for reference in references] == [False, False, True]


@claim(
    "Calling a module's `forward` does what calling the module does.", holds=False, note="Hooks are not run.", rules=("TPL302",)
)
def forward_is_the_call(device: str) -> bool:
    loss = nn.TripletMarginLoss()
    calls: list[str] = []
    loss.register_forward_hook(lambda *_: calls.append("hook"))
    a, p, n = (torch.randn(2, 3, device=device) for _ in range(3))
    loss.forward(a, p, n)
    by_forward = len(calls)
    loss(a, p, n)
    return by_forward == len(calls) - by_forward
