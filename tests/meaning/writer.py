"""Writes code from the vocabulary: templates whose holes are filled at random, with the names that are in scope.

The idea is that of `grammar.py` of the property tests, grown to kinds that change. In a template,

- ``<kind>`` is an expression of that kind: a name in scope, or one of the vocabulary's alternatives; ``<kind!>`` a name only;
- ``<new kind>`` is a name that has this kind from the next statement on;
- ``<kind#1>`` and ``<new kind#1>`` can be said again as ``<#1>``, and ``<#1 -> kind>`` says what the name is from now on, where
  ``gone`` is nothing that any template asks for; a line of only that is no line of the program;
- ``«a|b»`` is one of several, a line that starts with ``? `` is there or is not;
- ``<body>``, on a line of its own, is a block of statements; ``<body xi:plain>`` knows one more name. ``<body only x:plain>``,
  of a function, knows these names only, as does ``<body self x:plain self.w:leaf>``, of a method, which may make attributes.

What back-propagates frees graphs: names that had one are ``spent`` afterwards, and can only be read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from grammar import Choice

FAMILIES = {
    "T": ("plain", "value", "leaf", "spent", "v"),
    "summed": ("total", "sum_spent"),
    "kept_losses": ("losses", "losses_spent"),
}
"""Kinds that stand for several."""

SPENT = {"value": "spent", "total": "sum_spent", "losses": "losses_spent", "loss": "gone", "history": "gone", "sums": "gone"}
"""What becomes of names with a graph when there is a backward pass."""

NAMES = {
    "plain": ("x", "y", "data", "z", "inputs", "target"),
    "value": ("h", "out", "scores", "hidden"),
    "leaf": ("w", "weight", "p", "bias"),
    "loss": ("loss_a", "loss_b", "cost"),
    "total": ("total", "running_loss", "epoch_loss", "total_loss"),
    "losses": ("losses", "all_losses", "errors"),
    "array": ("a", "array", "pixels"),
    "v": ("v", "var"),
    "kept": ("kept", "view"),
}

_HOLE = re.compile(r"<(?:#(?P<again>\d)(?: -> (?P<becomes>\w+))?|(?P<new>new )?(?P<kind>\w+)(?P<only>!)?(?:#(?P<label>\d))?)>")
_OPTIONS = re.compile(r"«([^«»]*)»")
_BODY = re.compile(r"( *)<body(?: ([^>]*))?>")
_BACKWARD = re.compile(r"\.backward\(\)|autograd\.grad\((?!.*retain_graph)|\.learn\(|<train_one>|<slope>|<saliency>")


class UnfillableError(Exception):
    """A hole asks for a kind of which there is no name and no expression."""


@dataclass(slots=True)
class Writer:
    """Writes statements.

    ``phrases`` has a list for each topic, ``parts`` the kinds that are classes and functions, which are known everywhere, and
    ``scope`` the names of each kind that stand for something.
    """

    choice: Choice
    phrases: Sequence[Sequence[str]]
    expressions: dict[str, tuple[str, ...]]
    parts: frozenset[str]
    scope: dict[str, list[str]] = field(default_factory=dict)
    in_self: bool = False

    def block(self, count: int, depth: int = 0) -> list[str]:
        """The lines of ``count`` statements."""
        return [line for _ in range(count) for line in self.statement(depth)]

    def statement(self, depth: int = 0) -> list[str]:
        """The lines of one statement, blocks within it included."""
        for _ in range(30):
            template = self.choice.of(self.choice.of(self.phrases))
            if depth >= 2 and "<body" in template:
                continue
            scope = {kind: list(names) for kind, names in self.scope.items()}
            try:
                return self.filled(template, depth)
            except UnfillableError:
                self.scope = scope
        return ["pass"]

    def filled(self, template: str, depth: int = 0) -> list[str]:
        """The lines of a template; raises `UnfillableError`."""
        template = self._chosen(template)
        lines: list[str] = []
        labels: dict[str, str] = {}
        for line in template.split("\n"):
            if match := _BODY.fullmatch(line):
                spec = (match[2] or "").split()
                inner = self._inner(spec, depth + 1, "for " in template or "while " in template)
                lines += [match[1] + each for each in inner]
            elif text := self._expanded(line, labels, 0).rstrip():
                lines.append(text)
            elif not line:
                lines.append("")
            if _BACKWARD.search(line):
                self._spend()
        return lines

    def _chosen(self, template: str) -> str:
        """A template without its options: alternatives chosen, optional lines there or not."""
        while (chosen := _OPTIONS.sub(lambda match: self.choice.of(match[1].split("|")), template, count=1)) != template:
            template = chosen
        lines = [line for line in template.split("\n") if not line.lstrip().startswith("? ") or self.choice.one_in(2)]
        return "\n".join(line.replace("? ", "", 1) if line.lstrip().startswith("? ") else line for line in lines)

    def _inner(self, spec: list[str], depth: int, loops: bool) -> list[str]:
        """The lines of a body, whose names are gone behind it."""
        outside, in_self = self.scope, self.in_self
        self.in_self = "self" in spec
        if self.in_self or "only" in spec:
            self.scope = {kind: list(names) for kind, names in outside.items() if kind in self.parts}
        else:
            self.scope = {kind: list(names) for kind, names in outside.items()}
            if loops and not self.choice.one_in(4):
                self._spend()
        for name, kind in (each.split(":") for each in spec if ":" in each):
            self._name(name, kind)
        try:
            return self.block(self.choice.between(1, 3), depth)
        finally:
            self.scope, self.in_self = outside, in_self

    def _spend(self) -> None:
        for kind, after in SPENT.items():
            for name in self.scope.pop(kind, []):
                self.scope.setdefault(after, []).append(name)

    def _name(self, name: str, kind: str) -> None:
        """Makes a name one of that kind, and of no other."""
        for names in self.scope.values():
            while name in names:
                names.remove(name)
        self.scope.setdefault(kind, []).append(name)

    def _expanded(self, text: str, labels: dict[str, str], depth: int) -> str:
        def replacement(hole: re.Match[str]) -> str:
            if again := hole["again"]:
                if hole["becomes"]:
                    self._name(labels[again], hole["becomes"])
                    return ""
                return labels[again]
            if hole["kind"] == "name":
                return hole[0]
            filling = self._new(hole["kind"]) if hole["new"] else self._filling(hole["kind"], bool(hole["only"]), labels, depth)
            if hole["label"]:
                labels[hole["label"]] = filling
            if hole["new"]:
                added.append((filling, hole["kind"]))
            return filling

        added: list[tuple[str, str]] = []
        expanded = _HOLE.sub(replacement, text)
        for name, kind in added:
            self._name(name, kind)
        return expanded

    def _new(self, kind: str) -> str:
        name = self.choice.of(NAMES.get(kind, (f"the_{kind}", f"{kind}_1")))
        return f"self.{name}" if self.in_self and self.choice.one_in(3) else name

    def _filling(self, kind: str, only_names: bool, labels: dict[str, str], depth: int) -> str:
        names = [name for member in FAMILIES.get(kind, (kind,)) for name in self.scope.get(member, [])]
        options = () if only_names else self.expressions.get(kind, ())
        if names and (depth >= 3 or not options or self.choice.below(3) < 2):
            return self.choice.of(names)
        if not options and kind in FAMILIES and not only_names:
            return self._filling("plain", only_names, labels, depth)
        if not options:
            raise UnfillableError(kind)
        return self._expanded(options[0] if depth >= 3 else self.choice.of(options), labels, depth + 1)
