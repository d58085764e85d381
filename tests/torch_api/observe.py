"""What torch's functions do, seen by running them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy
import torch
from torch import Tensor
from torch.nn.utils import rnn
from torch.utils.hooks import RemovableHandle

from calls import Call

_NOT_RUN = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, AttributeError, KeyError, AssertionError)


@dataclass(slots=True)
class Seen:
    """What the calls of one function showed. Each list has an entry per call that says something about it."""

    results: set[str] = field(default_factory=set)
    carries_grad: list[bool] = field(default_factory=list)
    integral: list[bool] = field(default_factory=list)
    minimal_scalar: list[bool] = field(default_factory=list)
    shares: list[bool] = field(default_factory=list)
    saves_output: list[bool] = field(default_factory=list)
    saves_input: list[bool] = field(default_factory=list)

    @property
    def ran(self) -> bool:
        """Whether any call went through."""
        return bool(self.results)


def word(value: object) -> str:
    """The table's word for a value that a call returned."""
    match value:
        case None:
            return "none"
        case bool():
            return "bool"
        case Tensor():
            return "tensor"
        case int() | float() | complex():
            return "number"
        case str():
            return "string"
        case torch.Size():
            return "size"
        case torch.device():
            return "device"
        case torch.dtype():
            return "dtype"
        case torch.layout():
            return "layout"
        case numpy.ndarray():
            return "array"
        case torch.UntypedStorage() | torch.storage.TypedStorage():
            return "storage"
        case rnn.PackedSequence():
            return "packed"
        case tuple() if value and all(isinstance(part, int) for part in value):
            return "size"
        case tuple() if value and isinstance(value[0], (Tensor, tuple)):
            return "tuple"
        case list() if value and isinstance(value[0], Tensor):
            return "list"
        case list():
            return "tolist"
        case RemovableHandle():
            return "handle"
        case torch.nn.Module():
            return "module"
    return f"?{type(value).__name__}"


def tensors_of(value: object) -> list[Tensor]:
    """The tensors that a result consists of."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in tensors_of(part)]
    return []


def _run(function: Callable[..., object], call: Call) -> object:
    return function(*call.arguments, **call.keywords)


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _shares(value: object, source: Tensor) -> bool | None:
    if source.numel() == 0:
        return None
    if source.layout is not torch.strided:
        return False
    if isinstance(value, numpy.ndarray):
        return bool(value.ctypes.data == source.data_ptr())
    parts = tensors_of(value)
    try:
        return all(_storage(part) == _storage(source) for part in parts) if parts else None
    except _NOT_RUN:
        return None


def _backward_refuses(output: Tensor, changed: Tensor) -> bool | None:
    """Whether the backward of ``output`` misses the former values of ``changed``; None where it fails for other reasons."""
    try:
        with torch.no_grad():
            changed.add_(0)
        torch.autograd.backward(output, torch.ones_like(output))
    except _NOT_RUN as error:
        return True if "modified by an inplace operation" in str(error) else None
    return False


def _first_output(value: object) -> Tensor | None:
    return next((tensor for tensor in tensors_of(value) if tensor.requires_grad), None)


def _note(seen: Seen, call: Call, value: object) -> None:
    seen.results.add(word(value))
    parts = tensors_of(value)
    if call.tensors and parts:
        seen.carries_grad.append(any(part.requires_grad for part in parts))
    seen.integral += [not (part.is_floating_point() or part.is_complex()) for part in parts]
    if isinstance(value, Tensor) and call.dimensions and call.minimal:
        seen.minimal_scalar.append(value.dim() == 0)
    source = call.arguments[0] if call.arguments else None
    if isinstance(source, Tensor):
        shares = _shares(value, source)
        if shares is not None:
            seen.shares.append(shares)
    output = _first_output(value)
    if output is not None:
        refused = _backward_refuses(output, output)
        if refused is not None:
            seen.saves_output.append(refused)


def _note_input(seen: Seen, call: Call, value: object) -> None:
    output = _first_output(value)
    source = call.arguments[0] if call.arguments else None
    if output is not None and isinstance(source, Tensor) and source.requires_grad and source is not output:
        refused = _backward_refuses(output, source)
        if refused is not None:
            seen.saves_input.append(refused)


def observe(function: Callable[..., object], attempts: Callable[[], Iterable[Call]]) -> Seen:
    """Run ``function`` on all ``attempts`` and note what comes of those that torch accepts."""
    seen = Seen()
    for note in (_note, _note_input):
        for call in _quiet(attempts()):
            try:
                value = _run(function, call)
            except _NOT_RUN:
                continue
            note(seen, call, value)
    return seen


def _quiet(attempts: Iterable[Call]) -> Iterator[Call]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from attempts
