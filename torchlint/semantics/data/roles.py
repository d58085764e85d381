"""What is done with a tensor's ``.data``, in words that the questions about it share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, TypeVar

from torchlint.semantics.kinds.kind import Kind

Node = TypeVar("Node")


class Role(Enum):
    """What is done with a tensor's ``.data``."""

    MUTATION = auto()
    REBIND = auto()
    SCALAR = auto()  # indexed though it has no dimensions
    HOST = auto()  # on the way to numpy or a list
    WRAPPED = auto()  # Variable(x.data)
    READ = auto()


class Means(Enum):
    """How a tensor is changed through its ``.data``."""

    METHOD = auto()  # w.data.zero_(), w.data[i].fill_(0)
    RESHAPED = auto()  # w.data.resize_(n).zero_()
    STORE = auto()  # w.data[i] = v, w.data[i] += v
    AUGMENTED = auto()  # w.data += v
    INITIALISER = auto()  # init.normal_(w.data)
    ARGUMENT = auto()  # torch.add(a, b, out=w.data), or a function of the file that changes what it is given
    ALIAS = auto()  # c = w.data; c.zero_()


@dataclass(frozen=True, eq=False, slots=True)
class Change(Generic[Node]):
    """A change of a tensor in place: ``node`` is the call that makes it, or the target of an assignment.

    ``name`` is the local name that it is made through, if it is.
    """

    node: Node
    means: Means
    name: Node | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Access(Generic[Node]):
    """One ``.data`` of a tensor.

    ``receiver`` is the kind of the tensor. ``changes`` are those of a mutation: one, or through local names each of them.
    """

    node: Node
    receiver: Kind
    role: Role
    changes: tuple[Change[Node], ...] = ()
