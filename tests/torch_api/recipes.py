"""What the signatures do not tell: arguments for functions that no generic ones suit, and names that are out of scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor
from torch.nn.utils import rnn

import observe
from calls import Call
from stubs import Signature, python_signature

STRAYS = frozenset(
    {"boolean_dispatch", "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic"}
    | {"assert_int_or_pair", "bind", "copy_method_params", "cast", "overload", "classproperty", "variable"}
)
"""Names that a module imports or keeps for itself."""

FACTORIES = frozenset({"torch.from_numpy", "torch.frombuffer", "torch.from_file", "torch.tril_indices", "torch.triu_indices"})
"""Factories whose signature has no requires_grad."""

DEPENDS = frozenset({"to", "type", "type_as"})
"""Methods whose result carries a graph or not as their argument says."""

_UNSAFE = ("torch.set_", "torch.init_", "torch.fork", "torch.autocast_", "torch.clear_", "torch.import_", "torch.use_")
"""Functions that change the state of the process."""


def may_run(dotted: str) -> bool:
    """Whether a function can be tried on any arguments without harm."""
    return not dotted.startswith((*_UNSAFE, "torch.seed", "torch.manual_seed", "torch.save", "torch.load", "torch.wait"))


def documented(function: Callable[..., object]) -> tuple[Signature, ...]:
    """The signature that the first line of a builtin's docstring shows."""
    return python_signature(function)


def _x(*shape: int) -> Tensor:
    return torch.rand(*shape) * 0.8 + 0.1


def _ids(*shape: int) -> Tensor:
    return torch.zeros(*shape, dtype=torch.int64)


_RECIPES: dict[str, tuple[Callable[[], tuple[object, ...]], ...]] = {
    "clamp": (lambda: (_x(3, 4), 0.2, 0.5),),
    "clamp_": (lambda: (_x(3, 4), 0.2, 0.5),),
    "clip": (lambda: (_x(3, 4), 0.2, 0.5),),
    "clip_": (lambda: (_x(3, 4), 0.2, 0.5),),
    "mv": (lambda: (_x(3, 4), _x(4)),),
    "addmv": (lambda: (_x(3), _x(3, 4), _x(4)),),
    "addmv_": (lambda: (_x(3), _x(3, 4), _x(4)),),
    "addr_": (lambda: (_x(3, 4), _x(3), _x(4)),),
    "addbmm": (lambda: (_x(4, 4), _x(2, 4, 4), _x(2, 4, 4)),),
    "addbmm_": (lambda: (_x(4, 4), _x(2, 4, 4), _x(2, 4, 4)),),
    "new_tensor": (lambda: (_x(3, 4), [1.0]), lambda: (_x(3, 4), _x(3))),
    "select_scatter": (lambda: (_x(3, 4), _x(4), 0, 0),),
    "diagonal_scatter": (lambda: (_x(4, 4), _x(4)),),
    "torch.clamp": (lambda: (_x(3, 4), 0.2, 0.5),),
    "torch.clip": (lambda: (_x(3, 4), 0.2, 0.5),),
}


def calls(name: str) -> Iterator[Call]:
    """The calls written down for a function or method."""
    for recipe in _RECIPES.get(name, ()):
        torch.manual_seed(0)
        call = Call()
        call.arguments = [call.take(value) if isinstance(value, Tensor) else value for value in recipe()]
        first = call.arguments[0]
        call.dimensions = first.dim() if isinstance(first, Tensor) else 0
        yield call


def property_word(name: str) -> str:
    """The table's word for a data attribute that the stubs do not have."""
    try:
        return observe.word(getattr(_x(3, 4), name))
    except (RuntimeError, AttributeError):
        return ""


def mapping_type(value: Mapping[str, object]) -> str:
    """The annotation of a table."""
    return "dict[str, tuple[str, ...]]" if any(isinstance(item, tuple) for item in value.values()) else "dict[str, str]"


__all__ = ["DEPENDS", "FACTORIES", "STRAYS", "calls", "documented", "mapping_type", "may_run", "property_word", "rnn"]
