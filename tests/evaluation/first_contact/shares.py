"""The arithmetic of three labels: shares, how far two readers agree, and which rules are not useful enough to be on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from labels import FALSE, NOISE, UNJUDGED, USEFUL

USEFUL_ENOUGH = 0.80
TRUE_ENOUGH = 0.98
FEW = 20
"""With fewer findings read, a rule is judged by its kind and not by its share."""


@dataclass(frozen=True, slots=True)
class Labels:
    """How many findings have which label."""

    useful: int = 0
    noise: int = 0
    false: int = 0
    unjudged: int = 0

    @classmethod
    def of(cls, labels: Iterable[str]) -> Labels:
        """The labels, counted."""
        counts = Counter(labels)
        return cls(counts[USEFUL], counts[NOISE], counts[FALSE], counts[UNJUDGED])

    @property
    def judged(self) -> int:
        return self.useful + self.noise + self.false

    @property
    def true(self) -> int:
        return self.useful + self.noise

    @property
    def useful_share(self) -> float | None:
        """The share of the judged findings that are useful; None where there are none."""
        return self.useful / self.judged if self.judged else None

    @property
    def true_share(self) -> float | None:
        """The share of the judged findings that are true, useful or not; None where there are none."""
        return self.true / self.judged if self.judged else None

    @property
    def is_enough(self) -> bool:
        """Whether so many are useful, and so many true, that the rule stays on."""
        useful, true = self.useful_share, self.true_share
        return useful is None or true is None or (useful >= USEFUL_ENOUGH and true >= TRUE_ENOUGH)


def verdict(by_age: Mapping[str, Labels]) -> str:
    """What the labels of one rule, for each age of code, say about whether it stays on; an age of few findings says nothing."""
    together = sum_of(by_age.values())
    if together.judged < FEW:
        return "few" if together.judged else "none"
    failed = [] if together.is_enough else ["all"]
    failed += [age for age, labels in by_age.items() if labels.judged >= FEW and not labels.is_enough]
    return f"below: {', '.join(failed)}" if failed else "stays"


def sum_of(labels: Iterable[Labels]) -> Labels:
    """All of them added up."""
    useful = noise = false = unjudged = 0
    for each in labels:
        useful, noise, false, unjudged = useful + each.useful, noise + each.noise, false + each.false, unjudged + each.unjudged
    return Labels(useful, noise, false, unjudged)


def interval(part: int, whole: int) -> tuple[float, float] | None:
    """Where a share lies with 95 % confidence, after Wilson; None of nothing."""
    if not whole:
        return None
    z = 1.96
    share, spread = part / whole, z * z / whole
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / whole + spread / (4 * whole))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two readers agree about what both have judged."""

    both: int
    same: int
    expected: float
    """How many of them would be the same by chance, with the labels that each reader gave as often."""

    @classmethod
    def of(cls, pairs: Sequence[tuple[Hashable, Hashable]]) -> Agreement:
        """The agreement of pairs of labels, the first reader's and the second's."""
        first, second = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
        by_chance = sum(first[label] * second[label] for label in first) / len(pairs) if pairs else 0.0
        return cls(len(pairs), sum(one == two for one, two in pairs), by_chance)

    @property
    def plain(self) -> float | None:
        """The share that both give the same label; None where they have nothing in common."""
        return self.same / self.both if self.both else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: 1 where they always agree, 0 where not more often than by chance; None where chance alone agrees."""
        if self.both == self.expected:
            return None
        return (self.same - self.expected) / (self.both - self.expected)


def judged_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs of which both labels are judgements."""
    return [pair for pair in pairs if UNJUDGED not in pair]


def as_true(pairs: Iterable[tuple[str, str]]) -> list[tuple[bool, bool]]:
    """The pairs with two labels in place of three: true, useful or not, against false."""
    return [(one != FALSE, two != FALSE) for one, two in pairs]


def as_useful(pairs: Iterable[tuple[str, str]]) -> list[tuple[bool, bool]]:
    """The pairs with two labels in place of three: useful against the rest."""
    return [(one == USEFUL, two == USEFUL) for one, two in pairs]


def confusion(pairs: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], int]:
    """How often the first reader gave one label and the second another."""
    return Counter(pairs)


ORDER = (USEFUL, NOISE, FALSE)
