"""What a file calls an API: by its own last name, or by one that an import or an assignment gives it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Set
from functools import cached_property, lru_cache

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import last_name

_NAMING = (ast.Name, ast.Attribute, ast.IfExp)


class Spellings:
    """Finds what may be, or is, a reference to an API; without a look at what does not sound like it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def names_for(self, words: Collection[str]) -> frozenset[str]:
        """``words``, the last names of APIs, and the names that may stand for one of them somewhere in the file."""
        return frozenset(words) | self._aliases(frozenset(words))

    def calls(self, words: Collection[str]) -> list[ast.Call]:
        """The calls that may be of an API whose last name is one of ``words``."""
        calls = self._semantics.facts.calls
        return [call for name in sorted(self.names_for(words)) for call in calls.get(name, ())]

    def references(self, names: Set[str]) -> list[ast.Name | ast.Attribute]:
        """The names and attributes that refer to one of ``names``, the full names of APIs."""
        words = _last_names(frozenset(names))
        return [node for node in self.said(words) if self._semantics.qualified_name(node) in names]

    def attributes(self, names: Set[str]) -> list[ast.Attribute]:
        """The attributes that are called one of ``names``, whatever they are of."""
        return [node for node in self._semantics.tree.of_type(ast.Attribute) if node.attr in names]

    def said(self, words: frozenset[str]) -> list[ast.Name | ast.Attribute]:
        """The names and attributes of the file whose last part is one of ``words``, or may stand for one."""
        words = words | self._aliases(words)
        names = [node for node in self._semantics.tree.of_type(ast.Name) if node.id in words]
        return [*names, *self.attributes(words)]

    def _aliases(self, words: frozenset[str]) -> frozenset[str]:
        """The names that may stand for one of ``words``: mostly there are none, or few."""
        found: set[str] = set()
        pending = list(words & self._other_names.keys())
        while pending:
            for name in self._other_names.get(pending.pop(), ()):
                if name not in found:
                    found.add(name)
                    pending.append(name)
        return frozenset(found)

    @cached_property
    def _other_names(self) -> dict[str, set[str]]:
        """The names that stand for what is called otherwise."""
        found: dict[str, set[str]] = defaultdict(set)
        for scope in self._semantics.bindings.scopes.values():
            for name, bindings in scope.bindings.items():
                for binding in bindings:
                    if binding.form is Form.IMPORT:
                        if (last := binding.imported.rpartition(".")[2]) != name:
                            found[last].add(name)
                    elif binding.form is Form.ASSIGNMENT and isinstance(binding.value, _NAMING):
                        for value in _choices(binding.value):
                            found[last_name(value)].add(name)
        return found


@lru_cache(maxsize=64)
def _last_names(names: frozenset[str]) -> frozenset[str]:
    """The last parts of full names; kept, as rules ask for the same names in every file."""
    return frozenset(name.rpartition(".")[2] for name in names)


def _choices(value: ast.expr) -> Iterator[ast.expr]:
    """What a value may be: the value, or each of those that a conditional expression chooses from."""
    if isinstance(value, ast.IfExp):
        yield from _choices(value.body)
        yield from _choices(value.orelse)
    else:
        yield value
