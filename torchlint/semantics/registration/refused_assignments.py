"""Assignments that `nn.Module` refuses: to the name of a parameter, a buffer or a module, of what is none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, TRIES, Function, last_name, walk
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.registration.names import Registered, RegisteredNames, Role
from torchlint.semantics.registration.plain_values import Given, PlainValues

Node = TypeVar("Node")

_PLAIN_BASES = ("torch.nn.", "lightning.", "pytorch_lightning.")
_REPARAMETRISING = re.compile(r"register_parametrization|weight_norm|spectral_norm|orthogonal|prune|parametri[sz]e|delattr")
"""Words of files that have torch put something else in the place of parameters."""
_UNDOING = frozenset({"_parameters", "_buffers", "_modules", "__dict__", "__setattr__", "__getattribute__", "__delattr__"})
"""What a class speaks of that does the registering itself, or undoes it."""


@dataclass(frozen=True, eq=False, slots=True)
class Refused(Generic[Node]):
    """The ``value`` that is assigned to what ``registered``, a statement of the constructor, makes a ``role`` of.

    ``given`` is what the value is; a tensor may be a view. The name ``is_filled`` where it always has a tensor, or module, and
    never None, and ``takes_fractions`` where that is of floating point.
    """

    role: Role
    value: Node
    registered: Node
    given: Given
    is_view: bool
    is_filled: bool
    takes_fractions: bool


class RefusedAssignments:
    """Looks at the modules of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._classes = semantics.of(ModuleClasses)
        self._names = semantics.of(RegisteredNames)
        self._values = semantics.of(PlainValues)
        self._run_before: dict[Registered, set[str]] = {}

    @cached_property
    def found(self) -> dict[ast.Assign, Refused[ast.AST]]:
        """The assignments, in methods of the class whose constructor registers the name."""
        return dict(self._find())

    def _find(self) -> Iterator[tuple[ast.Assign, Refused[ast.AST]]]:
        for owner, facts in self._facts.classes.items():
            registered = self._names.of(owner) if facts.slots and self._classes.is_sure(owner) else {}
            if not registered or not self._has_plain_bases(owner) or self._undoes(owner):
                continue
            for name, made in registered.items():
                stores = facts.slots[name].stores if name in facts.slots and name not in self._deleted else ()
                is_filled = made.is_filled and not any(self._gives_none(store) for store in stores)
                for store in stores:
                    assignment = self._tree.parent(store)
                    if not isinstance(assignment, ast.Assign) or assignment.targets != [store]:
                        continue
                    given = self._values.refused(assignment.value, made.role)
                    if given is not None and self._is_behind(store, made, owner) and not self._is_awaited(store):
                        yield (
                            assignment,
                            Refused(
                                made.role,
                                assignment.value,
                                made.statement,
                                given,
                                self._values.is_view(assignment.value),
                                is_filled,
                                self._values.takes_fractions(made),
                            ),
                        )

    # --- classes that register as `nn.Module` does -------------------------------------------------------------------

    def _has_plain_bases(self, owner: ast.ClassDef) -> bool:
        """Whether what a class derives from is of torch, Lightning or the file itself."""
        bases = [(each, base) for each in self._facts.bases(owner) for base in each.bases]
        is_plain = all(
            self._facts.definition(base) is not None or (self._semantics.qualified_name(base) or "").startswith(_PLAIN_BASES)
            for _, base in bases
        )
        return is_plain and not any(each.keywords or each.decorator_list for each in self._facts.bases(owner))

    def _undoes(self, owner: ast.ClassDef) -> bool:
        """Whether a class, or one that it derives from or that derives from it, may take names out again."""
        return not self._undoing.isdisjoint((*self._facts.bases(owner), *self._facts.derived(owner)))

    @cached_property
    def _undoing(self) -> frozenset[ast.ClassDef]:
        return frozenset(filter(self._undoes_itself, self._facts.classes))

    def _undoes_itself(self, node: ast.ClassDef) -> bool:
        for part in ast.walk(node):
            match part:
                case ast.Delete() | ast.Call(func=ast.Name(id="delattr" | "setattr")):
                    return True
                case ast.Call(func=function, args=given) if not (isinstance(function, ast.Name) and function.id == "super"):
                    if any(self._facts.self_class(part) is not None for part in given):
                        return True  # `weight_norm(self)`
                case ast.Attribute(attr=name) | ast.FunctionDef(name=name) if name in _UNDOING:
                    return True
        return False

    @cached_property
    def _deleted(self) -> frozenset[str]:
        """The attributes that the file deletes, and those that it names, or has by default, where it re-parametrises any."""
        targets = (target for node in self._tree.of_type(ast.Delete) for target in node.targets)
        deleted = frozenset(target.attr for target in targets if isinstance(target, ast.Attribute))
        if not self._semantics.words.match(_REPARAMETRISING):
            return deleted
        named = (node.value for node in self._tree.of_type(ast.Constant) if isinstance(node.value, str))
        return deleted.union(named, ("weight", "bias"))

    # --- when an assignment runs -------------------------------------------------------------------------------------

    def _is_behind(self, store: ast.Attribute, registered: Registered, owner: ast.ClassDef) -> bool:
        """Whether a name is registered when an assignment runs: behind it in the constructor, or in a method run later."""
        constructor = self._facts.classes[owner].methods["__init__"]
        function = self._tree.function(store)
        if function is constructor:
            return store.lineno > registered.statement.lineno
        if not isinstance(function, FUNCTIONS) or self._tree.parent(function) is not owner:
            return False
        if registered not in self._run_before:
            self._run_before[registered] = self._run_by(constructor, registered.statement, owner)
        if function.name in self._run_before[registered]:
            return False
        is_run_by_torch = all((self._semantics.qualified_name(base) or "") in _RUN_NOTHING for base in owner.bases)
        return is_run_by_torch or function.name == "forward"

    def _run_by(self, constructor: Function, end: ast.stmt, owner: ast.ClassDef) -> set[str]:
        """The methods that a constructor mentions before a statement, and those that these mention."""
        before = constructor.body[: constructor.body.index(end)]
        pending, seen = [name for statement in before for name in _mentioned(statement)], set[str]()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                method = self._facts.method(owner, name)
                pending += _mentioned(method) if method not in (None, constructor) else ()
        return seen

    def _is_awaited(self, store: ast.Attribute) -> bool:
        """Whether the error may be what the code waits for, or the assignment be guarded: ``if not isinstance(self.w, …):``."""
        for outer in self._tree.ancestors(store):
            if isinstance(outer, (*FUNCTIONS, ast.ClassDef)):
                return False
            if isinstance(outer, TRIES) and outer.handlers:
                return True
            if isinstance(outer, ast.With) and any("raises" in ast.unparse(item).lower() for item in outer.items):
                return True
            if isinstance(outer, ast.If) and any(last_name(part) in ("isinstance", "hasattr") for part in _called(outer.test)):
                return True
        return False

    def _gives_none(self, store: ast.Attribute) -> bool:
        """Whether a name may be given None, as far as the statement shows."""
        match self._tree.parent(store):
            case ast.Assign(value=ast.Constant(value=None)):
                return True
            case ast.Assign():
                return False
        return True


_RUN_NOTHING = frozenset({"torch.nn.Module", "lightning.LightningModule", "pytorch_lightning.LightningModule"})
"""Bases whose constructors run no method of the class."""


def _mentioned(node: ast.AST) -> list[str]:
    return [part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)]


def _called(test: ast.expr) -> Iterator[ast.expr]:
    return (part.func for part in walk(test) if isinstance(part, ast.Call))
