"""Triggers: what a rule needs to see before it is asked, declared by the rule. Both sieves are made of them.

A rule is asked about the statements that hold one of its triggers, and about no other; a file that holds none of the words
they name is not even parsed. Triggers are values: they are known without importing the rule, `ast` or libcst.

They are no dataclasses, which take longer to define than all else takes that flake8 imports of torchlint.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Final, TypeAlias


class Trigger:
    """Something that a statement must hold for a rule to have anything to say about it.

    Two triggers are equal if they are of one class and made of the same.
    """

    def __init__(self, *parts: object) -> None:
        self._parts: Final = parts

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Trigger) and other._parts == self._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._parts))})"

    @property
    def words(self) -> frozenset[str] | None:
        """Words of which a file that holds the trigger holds one; ``None`` where it takes no certain word."""
        return None


class OfWords(Trigger):
    """A trigger that is told by its words alone."""

    def __init__(self, *names: str, more: object = None) -> None:
        self.names: Final = frozenset(names)
        super().__init__(self.names, more)

    @property
    def words(self) -> frozenset[str]:
        return self.names


class Word(OfWords):
    """A name, an attribute, a keyword, a parameter, an imported name or a whole string that is one of ``names``.

    With ``within``, which names types of simple statement, parted by blanks, only those in such statements.
    """

    def __init__(self, *names: str, within: str = "") -> None:
        self.within: Final = frozenset(within.split())
        super().__init__(*names, more=self.within)


class Call(OfWords):
    """A call of a function, method or class that is written with one of ``names`` last: ``x.view(2)``, ``view(x, 2)``.

    Names that the file gives to what is called so count as well: ``from torch import tensor as t``, ``t = torch.tensor``.
    """


class Attribute(OfWords):
    """An attribute, read or assigned, that is one of ``names``: ``x.data``."""


class Keyword(OfWords):
    """An argument that is given by one of ``names``: ``f(inplace=True)``."""


class Api(OfWords):
    """A name or an attribute that refers to one of ``names``, the full names of APIs, by whatever name the file calls it.

    The first and the last part of an API's name are in every file that refers to it; the first one is told by another library
    than torch itself, whose name is in nearly all of them.
    """

    @cached_property
    def words(self) -> frozenset[str]:  # kept: it is asked for in every file
        return frozenset(
            name.rpartition(".")[2] if name.startswith("torch.") else name.partition(".")[0] for name in self.names
        )


class Misspelt(Trigger):
    """A word that is at most two edits away from ``word``, which is long enough for that to mean something."""

    def __init__(self, word: str) -> None:
        self.word: Final = word
        super().__init__(word)


class Syntax(Trigger):
    """Statements, clauses and expressions of these types, by their names in libcst: ``Syntax("AugAssign")``."""

    def __init__(self, *types: str) -> None:
        self.types: Final = frozenset(types)
        super().__init__(self.types)


class Comment(Trigger):
    """A comment that says ``text``, in capitals or not: for rules about comments, which are shown no statement."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        super().__init__(text)


class Found(Trigger):
    """What an analysis finds: for rules with one question, which then meet only the statements that they report.

    ``analysis`` is ``module:Class.attribute``; a module that starts with a dot is one of `torchlint.semantics`. The class is
    made of the file's `Semantics`, and the attribute gives the nodes, as a collection of them or as a mapping from them.

    ``strict``, which names an analysis too, gives those of the nodes that the rule has but strict findings at: they are not
    looked at where these are left out.
    """

    def __init__(self, analysis: str, strict: str = "") -> None:
        self.analysis: Final = analysis
        self.strict: Final = strict
        super().__init__(analysis, strict)


Needs: TypeAlias = tuple[tuple[str, ...], ...]
"""Of each of these groups of words, a file has to hold one."""


@lru_cache(maxsize=1 << 16)
def is_near(word: str, right: str) -> bool:
    """Whether ``word``, less underscores at its end, is one or two edits away from ``right``; a swap of neighbours is one."""
    word = word.rstrip("_")
    return word != right and abs(len(word) - len(right)) <= 2 and _distance(word, right) <= 2


def _distance(one: str, other: str) -> int:
    rows: list[list[int]] = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
