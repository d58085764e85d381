"""What the users of the linted code have decided, as far as rules and fixes depend on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from torchlint.target import NEWEST, TorchVersion

Accumulation: TypeAlias = Literal["item", "detach"]


DEFAULT_TIMEOUT = 60.0
"""The seconds of processor time that one file may take: many times as many as the largest files that people write."""

_WAITS = "TPL402"
"""The rule that reports what waits for the device in every step, as `.item()` does."""


def accumulation(given: Accumulation | None, codes: Iterable[str]) -> Accumulation:
    """What takes a loss out of its graph: what is ``given`` or, for rules of these ``codes``, what none of them reports."""
    return given or ("detach" if _WAITS in codes else "item")


class Options(NamedTuple):
    """``target`` is the oldest torch that the code has to run on.

    ``accumulate_with`` is what takes a loss out of its graph where either is right: ``item``, or ``detach``, which does not
    wait for the device. The fixes of rules in ``unfixable`` are not offered. ``plugins`` are those that a configuration names.
    Of rules in ``lenient``, those that run although nobody named them, strict findings are left out.
    """

    target: TorchVersion = NEWEST
    accumulate_with: Accumulation = "item"
    unfixable: frozenset[str] = frozenset()
    plugins: tuple[str, ...] = ()
    lenient: frozenset[str] = frozenset()

    def leaves_out(self, code: str, is_strict: bool) -> bool:
        """Whether a finding of the rule is left out, as it is strict and nobody named the rule."""
        return is_strict and code in self.lenient

    @property
    def key(self) -> str:
        """A text for these options, the same in every process: sets have another order in each."""
        return repr((self.target, self.accumulate_with, sorted(self.unfixable), self.plugins, sorted(self.lenient)))


DEFAULTS = Options()
