"""Programs from tables: templates whose holes are filled at random, with the names that are in scope.

A template is text with holes. ``<kind>`` is an expression of that kind: one of the grammar's alternatives, or a name of that
kind in scope; ``<new kind>`` is a name of that kind, in scope from the next statement on; ``<body>``, on a line of its own, is
a block of statements. Whoever makes the choices, hypothesis, a fuzzer or `random`, is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

_HOLE = re.compile(r"<(new )?([A-Za-z]\w*)>")


@dataclass(frozen=True, slots=True)
class Choice:
    """Makes choices; ``below(n)`` gives a number from 0 to n - 1, and 0 is the simplest."""

    below: Callable[[int], int]

    def of(self, options: Sequence[T]) -> T:
        """One of some options."""
        return options[self.below(len(options))]

    def one_in(self, number: int) -> bool:
        """Whether what happens once in ``number`` times happens."""
        return self.below(number) == number - 1

    def between(self, least: int, most: int) -> int:
        """A number in a range, both ends included."""
        return least + self.below(most - least + 1)


@dataclass(frozen=True, slots=True)
class Grammar:
    """The templates of statements, the alternatives for each kind of expression, and the names to be had for new ones."""

    statements: Sequence[str]
    expressions: Mapping[str, Sequence[str]]
    names: Mapping[str, Sequence[str]]
    depth: int = 2


@dataclass(slots=True)
class Writer:
    """Writes statements of a grammar; ``scope`` has the names of each kind that stand for something."""

    grammar: Grammar
    choice: Choice
    scope: dict[str, list[str]] = field(default_factory=dict)

    def block(self, count: int, depth: int = 0) -> list[str]:
        """The lines of ``count`` statements."""
        lines: list[str] = []
        for _ in range(count):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int = 0) -> list[str]:
        """The lines of one statement, blocks within it included."""
        options = self.grammar.statements
        template = self.choice.of(options)
        if depth >= self.grammar.depth and "<body>" in template:
            template = options[0]
        return self.filled(template, depth)

    def filled(self, template: str, depth: int = 0) -> list[str]:
        """The lines of a template."""
        lines: list[str] = []
        added: list[tuple[str, str]] = []
        for line in template.split("\n"):
            if line.strip() == "<body>":
                indent = line[: -len("<body>")]
                lines += [indent + inner for inner in self._inner(depth + 1)]
            else:
                lines += self._expanded(line, added, 0).split("\n")
        for kind, name in added:
            self.scope.setdefault(kind, []).append(name)
        return lines

    def _inner(self, depth: int) -> list[str]:
        outside = {kind: list(names) for kind, names in self.scope.items()}
        lines = self.block(self.choice.between(1, 3), depth)
        self.scope = outside
        return lines

    def _expanded(self, text: str, added: list[tuple[str, str]], depth: int) -> str:
        def replacement(hole: re.Match[str]) -> str:
            kind = hole[2]
            if hole[1]:
                name = self.choice.of(self.grammar.names[kind])
                added.append((kind, name))
                return name
            return self._expression(kind, added, depth)

        return _HOLE.sub(replacement, text)

    def _expression(self, kind: str, added: list[tuple[str, str]], depth: int) -> str:
        names = self.scope.get(kind, [])
        options = self.grammar.expressions.get(kind, [])
        if names and (depth >= 3 or not options or self.choice.below(3) < 2):
            return self.choice.of(names)
        return self._expanded(options[0] if depth >= 3 else self.choice.of(options), added, depth + 1)
