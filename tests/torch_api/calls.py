"""Arguments to try torch's functions on: for each overload, in many shapes, dtypes and layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from stubs import Parameter, Signature

_INTEGER_NAMES = frozenset({"index", "indices", "target", "labels", "batch1_offsets", "pivots", "LU_pivots", "other_index"})
_UNTYPED_TENSORS = frozenset({"input", "tensor", "A"})
_STRINGS = {"reduce": ("sum", "prod", "amax"), "ord": ("fro", "nuc", "fro"), "driver": ("gels", "gelsd", "gelsy")}
_MASK_NAMES = frozenset({"mask", "condition"})


class Unknown(Exception):
    """There is no argument to offer for a parameter."""


@dataclass(slots=True)
class Call:
    """Arguments for one call, made anew for it: ``tensors`` are those of them that require grad.

    ``minimal`` says that nothing optional is given, ``dimensions`` how many the first tensor has.
    """

    arguments: list[object] = field(default_factory=list)
    keywords: dict[str, object] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)
    minimal: bool = True
    dimensions: int = 0

    def take(self, tensor: Tensor) -> Tensor:
        """``tensor`` as an argument: requiring grad where it can, and no leaf, so that it may be changed in place."""
        if tensor.requires_grad or not (tensor.is_floating_point() or tensor.is_complex()):
            return tensor
        leaf = tensor.detach().requires_grad_()
        if leaf.layout is not torch.strided or leaf.is_conj() or leaf.is_neg():
            argument = leaf  # a copy would lose what is special about it
        else:
            argument = torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype).copy_(leaf)
        self.tensors.append(argument)
        return argument


def _spd(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    half = torch.rand(*shape, dtype=dtype)
    return half @ half.mH + torch.eye(shape[-1], dtype=dtype)


@dataclass(frozen=True, slots=True)
class World:
    """What the tensors of a call look like."""

    make: Callable[[], Tensor]
    index_dimensions: int | None = None
    """The dimensions of an index; None: as many as the tensor has."""

    def tensor(self, name: str) -> Tensor:
        """A tensor for the parameter ``name``."""
        tensor = self.make()
        if name in _MASK_NAMES:
            return tensor.real > 0.5
        if name in _INTEGER_NAMES:
            shape = tensor.shape if self.index_dimensions is None else (2,) * self.index_dimensions
            return torch.zeros(shape, dtype=torch.int64)
        return tensor


WORLDS = (
    World(lambda: torch.rand(3, 4) * 0.8 + 0.1),
    World(lambda: torch.rand(3, 4) * 0.8 + 0.1, 1),
    World(lambda: (torch.rand(4, 3) * 0.8 + 0.1).t()),
    World(lambda: torch.rand(3, 4, dtype=torch.float64) * 0.8 + 0.1),
    World(lambda: _spd(4, 4)),
    World(lambda: _spd(4, 4), 1),
    World(lambda: _spd(4, 4, dtype=torch.complex64)),
    World(lambda: _spd(4, 4, 4)),
    World(lambda: _spd(4, 4, 4).permute(2, 1, 0)),
    World(lambda: torch.rand(4) * 0.8 + 0.1),
    World(lambda: torch.rand(4) * 0.8 + 0.1, 1),
    World(lambda: torch.rand(()) * 0.8 + 0.1),
    World(lambda: torch.rand(2, 4, 4, 4) * 0.8 + 0.1),
    World(lambda: torch.ones(3, 4, dtype=torch.int64)),
    World(lambda: torch.ones(4, dtype=torch.int64)),
    World(lambda: torch.ones(3, 4, dtype=torch.int32)),
    World(lambda: torch.ones(3, 4, dtype=torch.uint8)),
    World(lambda: torch.ones(3, 4, dtype=torch.bool)),
)


def _sizes(name: str, world: World, variant: int) -> list[int]:
    shape = list(world.make().shape)
    match name:
        case "size" | "shape" | "sizes" | "dims" if variant == 0 and name != "dims":
            return shape
        case "stride" | "strides":
            return list(world.make().stride())
        case "dims" | "dim" | "axis" if variant == 0 and name == "dims":
            return list(reversed(range(len(shape))))
        case "split_size" | "split_sizes" | "split_size_or_sections" if shape:
            return [1, shape[0] - 1]
        case "repeats" | "reps" | "repeat":
            return [1] * max(len(shape), 1)
    return [[0], [0, 1], [2, 2]][variant]


def _integer(name: str, variant: int) -> int:
    fixed = {"dim0": 0, "dim1": 1, "axis0": 0, "axis1": 1, "start": 0, "length": 1, "dim": 0, "axis": 0, "k": 1, "chunks": 2}
    return fixed.get(name, (1, 2, 4)[variant])


def _argument(parameter: Parameter, call: Call, world: World, variant: int) -> object:
    kinds = [part.strip() for part in parameter.type.split("|")]
    first = kinds[0].lstrip("*")
    match first:
        case "Tensor":
            return call.take(world.tensor(parameter.name))
        case "Any" | "" if parameter.name in _UNTYPED_TENSORS:
            return call.take(world.tensor(parameter.name))
        case "_int" | "int" | "SymInt":
            if len(kinds) > 1 and any("size" in kind or "[" in kind for kind in kinds) and variant != 2:
                return _sizes(parameter.name, world, variant)
            return _integer(parameter.name, variant)
        case "_float" | "float" | "Number":
            return 0.5 if variant == 0 else 2
        case "_bool" | "bool":
            return True
        case "_size" | "_symsize" | "Size":
            return _sizes(parameter.name, world, variant)
        case "_dtype" | "dtype":
            return (torch.float32, torch.int64, torch.float64)[variant]
        case "_device" | "DeviceLikeType":
            return "cpu"
        case "str" if parameter.name in _STRINGS:
            return _STRINGS[parameter.name][variant]
        case "None":
            return None
    if first.startswith(("tuple[_int", "tuple[int", "Sequence[_int", "Sequence[int", "Sequence[SymInt", "list[int")):
        return _sizes(parameter.name, world, variant)
    if "[Tensor" in first or first.startswith(("tuple[Tensor", "list[Tensor", "Sequence[Tensor")):
        count = 1 if parameter.name in {"indices"} else 2
        tensors = [call.take(world.tensor(parameter.name)) for _ in range(count)]
        return tuple(tensors)
    raise Unknown(parameter.type)


def _call(signature: Signature, world: World, variant: int, *, method: bool) -> Call:
    torch.default_generator.manual_seed(0)
    call = Call()
    if method:
        call.arguments.append(call.take(world.make()))
    for parameter in signature.required:
        argument = _argument(parameter, call, world, variant)
        if parameter.keyword_only:
            call.keywords[parameter.name] = argument
        elif parameter.type.startswith("*") and isinstance(argument, (tuple, list)):
            call.arguments.extend(argument)
        else:
            call.arguments.append(argument)
    call.dimensions = world.make().dim()
    return call


def _settings(call: Call) -> str:
    """What a call gives besides tensors."""
    given = [*call.arguments, *call.keywords.values()]
    return repr([argument for argument in given if not isinstance(argument, (Tensor, tuple))])


def _worlds(signature: Signature) -> Iterator[World]:
    indexed = any(parameter.name in _INTEGER_NAMES for parameter in signature.required)
    return (world for world in WORLDS if indexed or world.index_dimensions is None)


def calls(signatures: Sequence[Signature], *, method: bool) -> Iterator[Call]:
    """The calls of a function or method to try; some of them may be refused by torch."""
    fewest = min((len(signature.required) for signature in signatures), default=0)
    for signature in signatures:
        minimal = len(signature.required) == fewest and not _names_dimension(signature)
        for world in _worlds(signature):
            tried: set[str] = set()
            for variant in range(3):
                try:
                    call = _call(signature, world, variant, method=method)
                except Unknown:
                    break
                call.minimal = minimal
                if _settings(call) not in tried:
                    tried.add(_settings(call))
                    yield call


def _names_dimension(signature: Signature) -> bool:
    return any("dim" in parameter.name or "axis" in parameter.name for parameter in signature.required)
