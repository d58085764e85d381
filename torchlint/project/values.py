"""Values of dataclasses, tuples and texts as JSON and back: by their types alone, so that a new field needs no code here.

A dataclass is the list of its fields, those at the end left out that have their defaults. What is read is checked against the
types: JSON that is no such value is refused, whoever wrote it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

Decoder = Callable[[Any], Any]
_PLAIN = (str, int, bool, float)


def encoded(value: object) -> object:
    """A value as what `json` writes."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(map(encoded, value))  # type: ignore[type-var]
    if isinstance(value, Iterable):
        return [encoded(each) for each in value]
    found: list[object] = []
    length = 0
    kind: Any = type(value)
    for name, default in _fields(kind):
        part = getattr(value, name)
        found.append(encoded(part))
        if default is MISSING or part != default:
            length = len(found)
    return found[:length]


@cache
def _fields(kind: Any) -> tuple[tuple[str, object], ...]:
    return tuple((each.name, each.default) for each in fields(kind))


@cache
def decoder(kind: Any) -> Decoder:
    """What makes a value of a type of what `json` reads; it raises `TypeError` or `ValueError` where that is none."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in (*_PLAIN, types.NoneType):
        return lambda value: _checked(value, kind)
    if origin in (Union, types.UnionType):
        return _of_one(arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _of_parts(arguments)
    if origin in (tuple, frozenset, set):
        return _of_many(origin, arguments[0])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if is_dataclass(kind):
        return _of_dataclass(kind)
    raise TypeError(f"not kept: values of {kind!r}")


def _checked(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"not of {kind.__name__}: {value!r:.100}")
    return value


def _list(value: Any) -> list[Any]:
    result: list[Any] = _checked(value, list)
    return result


def _of_one(kinds: Iterable[Any]) -> Decoder:
    decoders = [decoder(each) for each in kinds if each is not types.NoneType]
    may_be_none = types.NoneType in kinds

    def decode(value: Any) -> Any:
        if value is None and may_be_none:
            return None
        for each in decoders[:-1]:
            try:
                return each(value)
            except (TypeError, ValueError):
                continue
        return decoders[-1](value)

    return decode


def _of_parts(kinds: tuple[Any, ...]) -> Decoder:
    decoders = [decoder(each) for each in kinds]
    return lambda value: tuple(decode(part) for decode, part in zip(decoders, _list(value), strict=True))


def _of_many(container: Callable[[Iterable[Any]], Any], kind: Any) -> Decoder:
    decode = decoder(kind)
    return lambda value: container(map(decode, _list(value)))


def _of_dataclass(kind: Any) -> Decoder:
    names = [each.name for each in fields(kind)]
    decoders: list[Decoder] = []  # looked up when there is a first value: a type may contain itself

    def decode(value: Any) -> Any:
        if len(_list(value)) > len(names):
            raise ValueError(f"more than {kind.__name__} has: {value!r:.100}")
        if not decoders:
            hints = get_type_hints(kind)
            decoders.extend([decoder(hints[name]) for name in names])
        return kind(*[each(part) for each, part in zip(decoders, value)])

    return decode
