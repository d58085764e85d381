"""A factual claim of an article, and the experiment that tells whether it holds on real torch.

An experiment is a function that takes a device (``"cpu"`` or ``"cuda"``) and returns whether the claim holds there. Its
decorator says what is expected, so that a new torch on which a claim changes is noticed.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

Experiment: TypeAlias = Callable[[str], bool]

DEVICES = ("cpu", "cuda")
NAMES = ("000", "001", "002", "003", "004")
"""The articles, by their number."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What an article states (in our words), and what is so.

    ``holds`` is whether the experiment is expected to confirm it, ``note`` what is really so where the claim is false or only
    a part of the truth, ``rules`` the rules that the fact bears on, and ``devices`` where the experiment makes sense.
    """

    article: str
    text: str
    holds: bool
    experiment: Experiment
    note: str
    rules: tuple[str, ...]
    devices: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the experiment, which is unique."""
        return f"{self.experiment.__module__.removeprefix('article_')}.{self.experiment.__name__}"

    @property
    def body(self) -> str:
        """The code of the experiment, less its decorator."""
        lines = inspect.getsource(self.experiment).splitlines()
        start = next(index for index, line in enumerate(lines) if line.startswith("def "))
        return "\n".join(lines[start:])


CLAIMS: list[Claim] = []
"""All claims, in the order of the articles."""


def claim(
    text: str, *, holds: bool, note: str = "", rules: tuple[str, ...] = (), devices: tuple[str, ...] = DEVICES
) -> Callable[[Experiment], Experiment]:
    """Registers the decorated experiment as that of a claim."""

    def register(experiment: Experiment) -> Experiment:
        article = experiment.__module__.removeprefix("article_")
        CLAIMS.append(Claim(article, text, holds, experiment, note, rules, devices))
        return experiment

    return register


class Kept:
    """What autograd keeps of one tensor: it can be seen whether it is still there."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor.detach()  # an operation's own result would keep the operation, and that this


@contextmanager
def kept_for_backward() -> Iterator[list[weakref.ref[Kept]]]:
    """Gathers what autograd keeps for the backward of what is computed in the block, for as long as it keeps it."""
    references: list[weakref.ref[Kept]] = []

    def pack(tensor: Tensor) -> Kept:
        kept = Kept(tensor)
        references.append(weakref.ref(kept))
        return kept

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        yield references


def alive(references: Iterable[weakref.ref[Kept]]) -> int:
    """How many of ``references`` still lead to something."""
    return sum(reference() is not None for reference in references)


def bytes_kept(references: Iterable[weakref.ref[Kept]]) -> int:
    """The bytes that autograd keeps, each storage counted once."""
    storages = [kept.tensor.untyped_storage() for reference in references if (kept := reference()) is not None]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def error_of(action: Callable[[], object]) -> str:
    """The message of the error that ``action`` raises; empty where it raises none."""
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
