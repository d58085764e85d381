"""The classes of torch: modules, losses, optimizers, schedulers, and what constructed modules hold."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import torch
import torch.optim.lr_scheduler
from torch import nn

Table: TypeAlias = frozenset[str] | dict[str, str] | dict[str, tuple[str, ...]]
"""A table as it is written: names, or what is known by name."""

_CONTAINERS: tuple[type[nn.Module], ...] = (nn.ModuleDict, nn.ModuleList, nn.ParameterDict, nn.ParameterList, nn.Sequential)
_ABSTRACT = (nn.Module, nn.Container, nn.RNNCellBase)
_NUMBERS = (4, 2, 2, 2, 2, 2)
"""What the parameters without a default are given, from the left."""


def legacy_constructors() -> frozenset[str]:
    """The tensor classes, `torch.FloatTensor` and its siblings, and `torch.Tensor` itself."""
    found = {"torch.Tensor"}
    for prefix, module in (("torch", torch), ("torch.cuda", torch.cuda)):
        for name in dir(module):
            if name.endswith("Tensor") and isinstance(getattr(module, name), torch._C._TensorMeta | type(torch.FloatTensor)):
                found.add(f"{prefix}.{name}")
    return frozenset(found)


def module_classes() -> dict[str, type[nn.Module]]:
    """The public modules by dotted name."""
    found: dict[str, type[nn.Module]] = {}
    for prefix, namespace in (("torch.nn", nn), ("torch.nn.parallel", nn.parallel)):
        for name in sorted(dir(namespace)):
            member = getattr(namespace, name)
            if isinstance(member, type) and issubclass(member, nn.Module) and not name.startswith("_"):
                found[f"{prefix}.{name}"] = member
    return found


def _required(signature: inspect.Signature) -> int:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.default is p.empty and p.kind in kinds for p in signature.parameters.values())


def _variants(module: type[nn.Module]) -> Iterator[nn.Module]:
    """``module`` constructed with few arguments, and with its switches the other way round."""
    signature = inspect.signature(module)
    count = _required(signature)
    special = _SPECIAL.get(module)
    if special is not None:
        yield from (construct() for construct in special)
        return
    yield module(*_NUMBERS[:count])
    for name, parameter in signature.parameters.items():
        if isinstance(parameter.default, bool):
            try:
                yield module(*_NUMBERS[:count], **{name: not parameter.default})
            except (RuntimeError, ValueError, TypeError, AssertionError):
                continue


def _encoder() -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(4, 2, 4)


def _recurrent(module: Callable[..., nn.Module]) -> tuple[Callable[[], nn.Module], ...]:
    return (
        lambda: module(4, 2),
        lambda: module(4, 2, bidirectional=True),
        lambda: module(4, 2, num_layers=2, bidirectional=True),
    )


_SPECIAL: Mapping[type[nn.Module], tuple[Callable[[], nn.Module], ...]] = {
    nn.GRU: _recurrent(nn.GRU),
    nn.RNN: _recurrent(nn.RNN),
    nn.LSTM: (*_recurrent(nn.LSTM), lambda: nn.LSTM(4, 2, proj_size=1)),
    nn.RNNBase: _recurrent(lambda *sizes, **options: nn.RNNBase("GRU", *sizes, **options)),
    nn.TransformerEncoder: (lambda: nn.TransformerEncoder(_encoder(), 1),),
    nn.TransformerDecoder: (lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 4), 1),),
    nn.AdaptiveLogSoftmaxWithLoss: (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 10, [2]),),
    nn.DataParallel: (lambda: nn.DataParallel(nn.Linear(4, 2)),),
    nn.GroupNorm: (lambda: nn.GroupNorm(2, 4),),
    nn.Unflatten: (lambda: nn.Unflatten(0, (2, 2)),),
    nn.FractionalMaxPool2d: (lambda: nn.FractionalMaxPool2d(2, output_size=2),),
    nn.FractionalMaxPool3d: (lambda: nn.FractionalMaxPool3d(2, output_size=2),),
    nn.Transformer: (lambda: nn.Transformer(4, 2, 1, 1, 4),),
    nn.MultiheadAttention: (lambda: nn.MultiheadAttention(4, 2), lambda: nn.MultiheadAttention(4, 2, add_bias_kv=True, vdim=3)),
}


def constructed() -> dict[str, list[nn.Module]]:
    """The public modules that need no process group, constructed."""
    found: dict[str, list[nn.Module]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dotted, module in module_classes().items():
            if not issubclass(module, nn.parallel.DistributedDataParallel) and module not in _ABSTRACT:
                found[dotted] = list(_variants(module))
    return found


_INPUTS: tuple[Callable[[], tuple[object, ...]], ...] = (
    lambda: (torch.rand(4, 4),),
    lambda: (torch.rand(4, 4, 4),),
    lambda: (torch.rand(4, 4, 4, 4),),
    lambda: (torch.rand(4, 4, 4, 4, 4),),
    lambda: (torch.ones(4, 4, dtype=torch.int64),),
    lambda: (torch.rand(4, 4), torch.rand(4, 4)),
    lambda: (torch.rand(4, 2), torch.rand(4, 2)),
    lambda: (torch.rand(4, 4), torch.ones(4, dtype=torch.int64)),
    lambda: (torch.rand(4, 4, 4), torch.rand(4, 4, 4), torch.rand(4, 4, 4)),
)


def _returns_tuple(module: nn.Module) -> bool:
    results = []
    for arguments in _INPUTS:
        try:
            results.append(module(*arguments()))
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError):
            continue
    return bool(results) and all(isinstance(result, tuple) for result in results)


def _held(modules: list[nn.Module], names: Callable[[nn.Module], list[str]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for module in modules:
        found |= dict.fromkeys(names(module))
    return tuple(found)


def _parameters(module: nn.Module) -> list[str]:
    return [name for name, _ in module.named_parameters(recurse=False)]


def _buffers(module: nn.Module) -> list[str]:
    return [name for name, _ in module.named_buffers(recurse=False)]


def _submodules(module: nn.Module) -> list[str]:
    return [name for name, _ in module.named_children()]


def _tables_of(made: dict[str, list[nn.Module]], names: Callable[[nn.Module], list[str]]) -> dict[str, tuple[str, ...]]:
    held = {dotted: _held(modules, names) for dotted, modules in made.items()}
    return {dotted: found for dotted, found in held.items() if found}


def _takes_reduction(module: type[nn.Module]) -> bool:
    return any("reduction" in inspect.signature(base).parameters for base in module.__mro__ if base is not object)


def _subclasses(namespace: object, prefix: str, base: type) -> frozenset[str]:
    members = {name: getattr(namespace, name) for name in dir(namespace) if not name.startswith("_")}
    return frozenset(
        f"{prefix}.{name}" for name, member in members.items() if isinstance(member, type) and issubclass(member, base)
    )


def tables() -> dict[str, tuple[str, Table]]:
    """The tables about classes, each with its description."""
    classes = module_classes()
    made = constructed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tuples = frozenset(dotted for dotted, variants in made.items() if _returns_tuple(variants[0]))
    schedulers = torch.optim.lr_scheduler
    return {
        "LOSS_MODULES": (
            "Modules that reduce a loss as their `reduction` says.",
            frozenset(dotted for dotted, module in classes.items() if _takes_reduction(module)),
        ),
        "MODULES": ("The modules that torch offers.", frozenset(classes)),
        "CONTAINER_MODULES": (
            "Modules that hold others, or parameters, like a list or a dict.",
            frozenset(dotted for dotted, module in classes.items() if module in _CONTAINERS),
        ),
        "TUPLE_MODULES": ("Modules whose call returns a tuple.", tuples),
        "PARAMETER_ATTRIBUTES": ("The parameters that a module may hold itself.", _tables_of(made, _parameters)),
        "BUFFERS": ("The buffers that a module may hold itself.", _tables_of(made, _buffers)),
        "SUBMODULES": ("The modules that a module may hold itself.", _tables_of(made, _submodules)),
        "OPTIMIZERS": ("The optimizers that torch offers.", _subclasses(torch.optim, "torch.optim", torch.optim.Optimizer)),
        "SCHEDULERS": (
            "The learning-rate schedulers that torch offers.",
            _subclasses(schedulers, "torch.optim.lr_scheduler", schedulers.LRScheduler)
            | {"torch.optim.lr_scheduler._LRScheduler", "torch.optim.swa_utils.SWALR"},
        ),
    }
