"""Calls of containers of modules or parameters, which hold them and have no `forward`: ``self.layers(x)`` of a ModuleList."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.expected_errors import is_awaited
from torchlint.semantics.code.tree import dotted, given_to, last_name
from torchlint.semantics.modules.containers.makings import CONTAINERS, Containers
from torchlint.semantics.sequences.changed import ChangedSequences

Node = TypeVar("Node")

_RUNNING = frozenset({"forward", "__call__", "_call_impl", "_wrapped_call_impl"})
_ASKING = ("isinstance", "hasattr", "callable", "issubclass", "type", "getattr")
_SETTING = ("setattr", "patch", "object", "__setattr__", "add_method")
_SHORT = frozenset(name.rpartition(".")[2] for name in CONTAINERS)


@dataclass(frozen=True, eq=False, slots=True)
class CalledContainer(Generic[Node]):
    """A call of ``callee``, a ``container`` of torch, or an instance of a class ``derived`` from that, which ``made`` makes.

    A call that ``names`` arguments fails on these. It can be ``a_sequence``: a ModuleList that is made in one place of the
    file, and is used for nothing but to be called.
    """

    callee: Node
    container: str
    derived: str
    made: Node
    a_sequence: bool
    names: bool = False


class CalledContainers:
    """Looks at the calls in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._changed = semantics.of(ChangedSequences)
        self._containers = semantics.of(Containers)
        self._others: dict[tuple[type[ast.AST], str], list[ast.expr]] = {}

    @cached_property
    def found(self) -> dict[ast.Call, CalledContainer[ast.AST]]:
        """The calls that raise, as each value that the callee may have is a container without a `forward`."""
        found = dict(self._find()) if self._may_be_found else {}
        return {} if found and self._semantics.elsewhere.speaks_of("containers that run") is True else found

    @cached_property
    def _may_be_found(self) -> bool:
        """Whether the file makes containers, and gives none of them a `forward` from outside."""
        if self._semantics.words.all.isdisjoint(_SHORT) or not _RUNNING.isdisjoint(self._facts.stored_attributes):
            return False
        calls = (call for name in _SETTING for call in self._facts.calls.get(name, ()))
        texts = (each.value for call in calls for each in given_to(call) if isinstance(each, ast.Constant))
        if any(isinstance(text, str) and text.rpartition(".")[2] in _RUNNING for text in texts):
            return False
        return True

    def _find(self) -> Iterator[tuple[ast.Call, CalledContainer[ast.AST]]]:
        for call in self._tree.of_type(ast.Call):
            callee = call.func
            if not isinstance(callee, (ast.Name, ast.Attribute, ast.Subscript)) or self._is_asked_for(callee):
                continue
            makings = self._containers.makings(callee)
            if not makings or is_awaited(self._tree, call) or any(map(self._is_empty, makings)):
                continue
            made = min(makings, key=lambda each: each.lineno)
            derived = self._facts.definition(made.func)
            name = derived.name if isinstance(derived, ast.ClassDef) else ""
            container = self._containers.made(made).rpartition(".")[2]
            can_be = len(makings) == 1 and not name and container == "ModuleList" and self._is_sequence(made)
            names = any(word.arg is not None for word in call.keywords)
            yield call, CalledContainer(callee, container, name, made, can_be, names)

    def _is_empty(self, made: ast.Call) -> bool:
        """Whether a container is made without anything in it, and gets nothing: another class may replace it."""
        if made.args or made.keywords or self._facts.definition(made.func) is not None:
            return False
        return not self._changed.include(made)

    def _is_asked_for(self, callee: ast.expr) -> bool:
        return (dotted(callee) or ast.dump(callee)) in self._asked

    @cached_property
    def _asked(self) -> set[str]:
        """What the file asks for its type or its attributes, as it is spelled."""
        calls = (call for name in _ASKING for call in self._facts.calls.get(name, ()))
        return {dotted(call.args[0]) or ast.dump(call.args[0]) for call in calls if call.args}

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _is_sequence(self, made: ast.Call) -> bool:
        """Whether a container is given one name or attribute, of which each other mention is a call with one value."""
        match made, self._tree.parent(made):
            case ast.Call(args=[ast.Starred()]), _:
                return False
            case ast.Call(args=[_], keywords=[]), ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
                return all(use is target for use in self._used_otherwise(type(target), last_name(target)))
        return False

    def _used_otherwise(self, kind: type[ast.AST], name: str) -> list[ast.expr]:
        """The mentions of a name or an attribute other than calls with one value."""
        key = kind, name
        if key not in self._others:
            self._others[key] = [use for use in self._containers.mentions[key] if not self._is_run(use)]
        return self._others[key]

    def _is_run(self, use: ast.expr) -> bool:
        match self._tree.parent(use):
            case ast.Call(func=function, args=[given], keywords=[]):
                return function is use and not isinstance(given, ast.Starred)
        return False
