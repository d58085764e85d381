"""Ways to call the public callables of torch: those that the recipes know, and values that suit the names of parameters."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

import calls
import modules
import recipes
import stubs

Attempt = tuple[Sequence[object], dict[str, object]]

_tensor_methods = functools.cache(stubs.tensor_methods)
_functional_functions = functools.cache(stubs.functional_functions)
_module_classes = functools.cache(modules.module_classes)
_torch_functions = functools.cache(stubs.torch_functions)

_NEVER = frozenset(
    {
        *("spawn", "start_processes", "download_url_to_file", "load_state_dict_from_url", "list", "help", "load", "main"),
        *("init_process_group", "new_group", "monitored_barrier", "set_default_device", "fork", "breakpoint", "exit", "save"),
        *(
            "_exit",
            "use_deterministic_algorithms",
            "compile",
            "export",
            "seed_all",
            "manual_seed_all",
            "shutdown",
            "init_rpc",
            "rendezvous",
            "set_warn_always",
        ),
    }
)
"""What reaches for the network, for other processes or for what comes after."""
_MOST = 12
"""Calls of one function that are tried: what warns does so at the first."""


def _x(*shape: int) -> torch.Tensor:
    return torch.rand(*shape) * 0.8 + 0.1


def _weights() -> list[nn.Parameter]:
    return [nn.Parameter(_x(3))]


def _optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD(_weights(), lr=0.1, momentum=0.9)


def _double(x: Any, *_rest: object) -> Any:
    return x * 2


def _dataset() -> torch.utils.data.Dataset[Any]:
    return torch.utils.data.TensorDataset(_x(4, 3))


_BY_NAME: dict[str, Callable[[], object]] = {
    **dict.fromkeys(("optimizer",), _optimizer),
    **dict.fromkeys(("params", "parameters"), _weights),
    **dict.fromkeys(("module", "model", "mod"), lambda: nn.Linear(3, 3)),
    **dict.fromkeys(("fn", "func", "function", "f", "lr_lambda", "callback", "hook", "closure", "run_fn"), lambda: _double),
    **dict.fromkeys(("dataset", "data_source"), _dataset),
    **dict.fromkeys(("device", "device_type"), lambda: "cpu"),
    **dict.fromkeys(("dtype",), lambda: torch.float32),
    **dict.fromkeys(("inputs", "example_inputs", "args"), lambda: (_x(3),)),
    **dict.fromkeys(("milestones",), lambda: [1, 2]),
    **dict.fromkeys(("schedulers",), lambda: [torch.optim.lr_scheduler.ConstantLR(_optimizer())]),
    **dict.fromkeys(("step_size", "T_max", "T_0", "total_steps", "total_iters", "num_samples", "batch_size"), lambda: 2),
    **dict.fromkeys(("base_lr", "max_lr", "gamma", "swa_lr", "max_norm", "clip_value", "rate", "lr"), lambda: 0.1),
    **dict.fromkeys(("probs", "concentration", "concentration0", "concentration1", "scale", "df", "df1", "df2"), lambda: _x(3)),
    **dict.fromkeys(("loc", "low", "mean", "temperature", "alpha"), lambda: _x(3)),
    **dict.fromkeys(("high",), lambda: _x(3) + 2),
    **dict.fromkeys(("name", "msg", "message", "key"), lambda: "weight"),
    **dict.fromkeys(("enabled", "mode"), lambda: True),
    **dict.fromkeys(("segments", "chunks", "functions_segments"), lambda: 1),
}
_VALUES: tuple[Callable[[], object], ...] = (
    lambda: _x(3),
    lambda: 2,
    lambda: nn.Linear(3, 3),
    lambda: _double,
    lambda: _x(3, 3),
)
"""What is tried where the name of a parameter tells nothing."""
_SPECIAL: dict[str, Callable[[], Attempt]] = {
    "torch.utils.checkpoint.checkpoint": lambda: ((_double, _x(3).requires_grad_()), {}),
    "torch.utils.checkpoint.checkpoint_sequential": lambda: (([nn.Linear(3, 3)], 1, _x(2, 3).requires_grad_()), {}),
    "torch.nn.utils.stateless.functional_call": lambda: ((nn.Linear(3, 3), {}, _x(2, 3)), {}),
    "torch.optim.lr_scheduler.OneCycleLR": lambda: ((_optimizer(), 0.1), {"total_steps": 4}),
    "torch.cuda.amp.autocast": lambda: ((), {}),
    "torch.autograd.backward": lambda: ((_x(3).requires_grad_().sum(),), {}),
    "torch.jit.trace": lambda: ((_double, (_x(3),)), {}),
    "torch.set_default_tensor_type": lambda: (("torch.FloatTensor",), {}),
    "torch.nn.functional.gumbel_softmax": lambda: ((_x(3, 4),), {"dim": -1}),
}


def names(module_name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public callables of a module, or of a class, by their full names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(module_name) if module_name not in _CLASSES else None
    for name in sorted(dir(module) if module is not None else ()):
        if name.startswith("_") or name in _NEVER or name in recipes.STRAYS:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            member = getattr(module, name, None)
        home = getattr(member, "__module__", None) or "torch"
        if callable(member) and home.partition(".")[0] in ("torch", "functorch"):
            yield f"{module_name}.{name}", member


_CLASSES: dict[str, Callable[[], object]] = {
    "torch.Tensor": lambda: _x(3, 4),
    "torch.nn.Module": lambda: nn.Linear(3, 3),
}
_METHODS_OF: dict[str, dict[str, Callable[[], object]]] = {
    "torch.optim": {"torch.optim.Optimizer": _optimizer},
    "torch.optim.lr_scheduler": {
        "torch.optim.lr_scheduler.LRScheduler": lambda: torch.optim.lr_scheduler.StepLR(_optimizer(), 2),
        "torch.optim.lr_scheduler.ReduceLROnPlateau": lambda: torch.optim.lr_scheduler.ReduceLROnPlateau(_optimizer()),
    },
    "torch.distributions": {"torch.distributions.Distribution": lambda: torch.distributions.Normal(_x(3), _x(3))},
    "torch.utils.data": {
        "torch.utils.data.DataLoader": lambda: torch.utils.data.DataLoader(_dataset()),
        "torch.utils.data.ConcatDataset": lambda: torch.utils.data.ConcatDataset([_dataset()]),
    },
    "torch.autograd.profiler": {"torch.autograd.profiler.profile": lambda: torch.autograd.profiler.profile(enabled=False)},
    "torch.amp": {"torch.amp.GradScaler": lambda: torch.amp.GradScaler("cpu")},
}
"""Objects whose methods are called, by the module that they belong to."""


def instances(module_name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of the objects that belong to a module, each on an object of its own, and properties as calls."""
    made = {module_name: _CLASSES[module_name]} if module_name in _CLASSES else _METHODS_OF.get(module_name, {})
    for owner, make in made.items():
        example = make()
        for name in sorted(dir(type(example))):
            if name.startswith("_") or name in _NEVER:
                continue
            if callable(inspect.getattr_static(type(example), name)) or callable(getattr(type(example), name, None)):
                yield f"{owner}.{name}", _method(make, name, getattr(type(example), name))
            else:
                yield f"{owner}.{name}", _property(make, name)


def _method(make: Callable[[], object], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: object, **words: object) -> object:
        if isinstance(example := make(), torch.Tensor) and arguments:
            return function(*arguments, **words)
        return getattr(example, name)(*arguments, **words)

    call.of_method = function  # type: ignore[attr-defined]
    return call


def _property(make: Callable[[], object], name: str) -> Callable[..., Any]:
    def call() -> object:
        return getattr(make(), name)

    return call


def attempts(name: str, function: Callable[..., Any]) -> Iterator[Attempt]:
    """Calls to try, the most promising first."""
    return itertools.islice(_attempts(name, function), _MOST)


def _attempts(name: str, function: Callable[..., Any]) -> Iterator[Attempt]:
    owner, _, last = name.rpartition(".")
    if name in _SPECIAL:
        yield _SPECIAL[name]()
    method = getattr(function, "of_method", None)
    if owner == "torch.Tensor" and method is not None:
        signatures = _tensor_methods().get(last) or stubs.python_signature(method, method=True)
        found = itertools.chain(recipes.calls(last), calls.calls(signatures, method=True))
        yield from ((each.arguments, each.keywords) for each in found)
        return
    if name in _module_classes():
        yield from _of_module_class(_module_classes()[name])
        return
    if not isinstance(function, type) and method is None:
        signatures = _signatures(name, function)
        found = itertools.chain(recipes.calls(name), calls.calls(signatures, method=False) if recipes.may_run(name) else ())
        yield from ((each.arguments, each.keywords) for each in found)
    yield from _by_name(method or function, is_method=method is not None and owner != "torch.Tensor")


def _of_module_class(made: type[nn.Module]) -> Iterator[Attempt]:
    count = modules._required(inspect.signature(made))
    yield modules._NUMBERS[:count], {}
    yield (2, 4)[:count], {}


def _signatures(name: str, function: Callable[..., Any]) -> tuple[stubs.Signature, ...]:
    if name.startswith("torch.nn.functional.") and (found := _functional_functions().get(name.rpartition(".")[2])):
        return found
    if name.count(".") == 1 and (found := _torch_functions().get(name.rpartition(".")[2])):
        return found
    operators = {"torch.fft": "fft_", "torch.linalg": "linalg_", "torch.special": "special_"}
    owner, _, last = name.rpartition(".")
    return stubs.python_signature(function) or (stubs.schema_signatures(operators[owner] + last) if owner in operators else ())


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _by_name(function: Callable[..., Any], *, is_method: bool) -> Iterator[Attempt]:
    """Values that suit the names of what is required; where a name tells nothing, each of a few in turn."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = _parameters(function)[is_method:]
    required = [each for each in parameters if each.kind in kinds and each.default is each.empty]
    words = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.default is each.empty]
    for value in _VALUES if any(each.name not in _BY_NAME for each in required) or words else _VALUES[:1]:
        yield [_BY_NAME.get(each.name, value)() for each in required], {word: _BY_NAME.get(word, value)() for word in words}
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        yield [*(_BY_NAME.get(each.name, _VALUES[0])() for each in required), _x(3)], {}


def variations(
    name: str, function: Callable[..., Any], arguments: Sequence[object], words: dict[str, object]
) -> Iterator[tuple[str, Iterable[object]]]:
    """The parameters that a call does not give, each with values to give: its default is not among them."""
    method = getattr(function, "of_method", None)
    parameters = _parameters(method or function)
    if not parameters:
        yield from _stubbed_variations(name, method, arguments, words)
        return
    if method is not None and not (arguments and isinstance(arguments[0], torch.Tensor)):
        parameters = parameters[1:]
    by_place = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    by_name = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    for each in [*by_place[len(arguments) :], *by_name]:
        if each.name not in words and not each.name.startswith("_"):
            yield each.name, [value for value in _values(each) if value is not each.default]


def _stubbed_variations(
    name: str, method: Callable[..., Any] | None, arguments: Sequence[object], words: dict[str, object]
) -> Iterator[tuple[str, Iterable[object]]]:
    last = name.rpartition(".")[2]
    signatures = _tensor_methods().get(last, ()) if method is not None else _torch_functions().get(last, ())
    for signature in signatures:
        optional = [each for each in signature.parameters if not each.required and each.name not in words]
        if len(signature.required) + (method is not None) == len(arguments):
            for each in optional:
                if "int" in each.type:
                    yield each.name, [0, 1, -1]
                elif "bool" in each.type:
                    yield each.name, [True]


def _values(parameter: inspect.Parameter) -> list[object]:
    match parameter.default:
        case bool():
            return [True, False]
        case int() | float():
            return [parameter.default + 1]
        case str():
            return ["mean", "ij", "sum"]
    return [True, False, 1, "ij", torch.float32]
