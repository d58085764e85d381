"""Changes of tensors through their ``.data``, and what it takes to change the tensors themselves."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Grad, Semantics
from torchlint.semantics.autograd.no_grad_runs import NoGradRuns, is_suspending
from torchlint.semantics.data.accesses import DataAccesses
from torchlint.semantics.data.roles import Access, Means, Role
from torchlint.semantics.memory.reads import Reads

Node = TypeVar("Node")


class Remedy(Enum):
    """What makes a change through ``x.data`` one that autograd knows of."""

    NOTHING = auto()  # `x` can be changed
    NO_GRAD = auto()  # `x` can be changed where autograd is off
    DETACH = auto()  # `x.detach()` can be


@dataclass(frozen=True, eq=False, slots=True)
class DataChange(Generic[Node]):
    """A change of a ``tensor`` through ``data``, its ``.data``: ``node`` is the call that makes it, or what is assigned to.

    ``name`` is the local name that it is made through, if it is. ``augmentable`` is whether ``tensor += x`` can be said.
    ``reads`` are the other ``.data`` in its statement that are not needed either, if the remedy is to turn autograd off. It is
    ``safe`` to mend where nothing that works may raise or change by it.
    """

    node: Node
    data: Node
    tensor: Node
    means: Means
    remedy: Remedy
    safe: bool
    name: Node | None
    augmentable: bool
    reads: tuple[Node, ...]


class DataChanges:
    """Tells what changes tensors through their ``.data``."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._accesses = semantics.of(DataAccesses)
        self._reads = semantics.of(Reads)

    @cached_property
    def at(self) -> dict[ast.expr, list[DataChange[ast.expr]]]:
        """The changes, by the nodes that make them; one call may change several tensors."""
        found: dict[ast.expr, list[DataChange[ast.expr]]] = defaultdict(list)
        for change in (change for changes in self._of.values() for change in changes):
            found[change.node].append(change)
        return dict(found)

    def within(self, statements: Iterable[ast.stmt]) -> list[DataChange[ast.expr]]:
        """The changes through the ``.data`` in some statements, and in the statements that are parts of these."""
        return [change for access in self._accesses.within(statements) for change in self._of[access]]

    def runs(
        self,
        *,
        safe: bool,
        is_left: Callable[[ast.expr], bool],
        stands_alone: Callable[[ast.stmt], bool],
    ) -> NoGradRuns:
        """The runs of statements that go under one ``no_grad`` to mend the changes that are ``safe`` to, or the others.

        ``is_left`` tells of a ``.data`` whether it is to stay as it is.
        """
        changes = [change for at in self.at.values() for change in at if not is_left(change.data)]
        needy, bearing = set(), set()
        for change in changes:
            statement = self._tree.statement(change.data)
            if change.remedy is Remedy.NO_GRAD and change.safe is safe:
                needy.add(statement)
            elif change.remedy is Remedy.NOTHING and self._is_whole_statement(change.node, statement):
                bearing.add(statement)
        return NoGradRuns(self._tree, needy, bearing, stands_alone)

    @cached_property
    def _of(self) -> dict[Access[ast.expr], list[DataChange[ast.expr]]]:
        return {access: list(self._changes(node, access)) for node, access in self._accesses.all.items()}

    def _changes(self, data: ast.Attribute, access: Access[ast.expr]) -> Iterator[DataChange[ast.expr]]:
        if access.role is not Role.MUTATION:
            return
        remedy, tensor = self._remedy(access), data.value
        reads = tuple(self._needless_reads(data)) if remedy is Remedy.NO_GRAD else ()
        for change in access.changes:
            # What is initialised is a parameter, and not a result that the backward pass needs.
            safe = access.receiver.grad in (Grad.LEAF, Grad.NONE) or change.means is Means.INITIALISER
            augmentable = self._is_augmentable(tensor)
            yield DataChange(change.node, data, tensor, change.means, remedy, safe, change.name, augmentable, reads)

    def _is_augmentable(self, tensor: ast.expr) -> bool:
        """Whether ``tensor += x`` can be said: not of a call, nor of an item, nor of a name of an outer scope."""
        if isinstance(tensor, ast.Name):
            scope = self._semantics.bindings.scope_of(tensor)
            return tensor.id in scope.bindings or tensor.id in scope.outer_names
        return isinstance(tensor, ast.Attribute)

    def _needless_reads(self, data: ast.Attribute) -> Iterator[ast.expr]:
        for other in self._accesses.within([self._tree.statement(data)]):
            if other.role is Role.READ and self._reads.makes_new_value(other.node):
                yield other.node

    # --- the remedy --------------------------------------------------------------------------------------------------

    def _remedy(self, access: Access[ast.expr]) -> Remedy:
        statement, change = self._tree.statement(access.node), access.changes[0]
        if change.means is Means.INITIALISER:
            is_first = isinstance(change.node, ast.Call) and change.node.args[0] is access.node
            return Remedy.NOTHING if is_first else Remedy.DETACH
        is_direct = change.means in (Means.METHOD, Means.STORE, Means.AUGMENTED)
        if not is_direct or not self._is_whole_statement(change.node, statement):
            return Remedy.DETACH
        if self._semantics.no_grad.block(access.node):
            return Remedy.NOTHING
        has_graph = access.receiver.grad is not Grad.NONE or self._may_take_graph(statement, access.node)
        return Remedy.NO_GRAD if has_graph else Remedy.NOTHING

    @staticmethod
    def _is_whole_statement(change: ast.expr, statement: ast.stmt) -> bool:
        """Whether a change is all that its statement is there for, so that turning autograd off changes nothing else."""
        match statement:
            case ast.Expr(value=whole) | ast.Assign(targets=[whole]) | ast.AugAssign(target=whole):
                return whole is change and not is_suspending(statement)
        return False

    def _may_take_graph(self, statement: ast.stmt, data: ast.expr) -> bool:
        """Whether a tensor without grad would become part of a graph by a value that ``statement`` puts into it."""
        values: list[ast.expr] = []
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            values.append(statement.value)
        for part in ast.walk(statement):
            if isinstance(part, ast.Call) and self._tree.inside(data, part.func):
                values += [*part.args, *(word.value for word in part.keywords)]
        return any(self._may_carry_graph(value) for value in values)

    def _may_carry_graph(self, value: ast.expr) -> bool:
        kind = self._semantics.kind(value)
        if kind.is_tensor:
            return kind.grad is not Grad.NONE
        return not kind.known
