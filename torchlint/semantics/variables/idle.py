"""Assignments that do nothing but wrap a value in `Variable` under its own name: ``x = Variable(x)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from torchlint.fact import Fact, all_of
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.variables.unwrapped import Unwrapped
from torchlint.semantics.variables.wrappers import Wrappers, makes_leaf

Place = TypeVar("Place")
Question: TypeAlias = Callable[[ast.Call], bool]


@dataclass(frozen=True, eq=False, slots=True)
class Idle(Generic[Place]):
    """The statements that go together: one, or all of a block where each is idle, or the ``branch`` that is no more than that.

    They go with their block where they are the ``whole`` of it. What is certain of all values: that each is the same without
    Variable, ``itself``, and that Variable has ``detached`` it.
    """

    statements: tuple[Place, ...]
    itself: Fact
    detached: Fact
    whole: bool = False
    branch: Place | None = None


class IdleAssignments:
    """Finds them, but for those with a call that is to be left."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._wrappers = semantics.of(Wrappers)
        self._unwrapped = semantics.of(Unwrapped)
        self._blocks: dict[ast.stmt, bool] = {}

    def around(self, statement: ast.stmt, is_left: Question, may_go: Callable[[ast.If], bool]) -> Idle[ast.stmt] | None:
        """What goes with an idle statement; ``None`` if it is not idle. ``may_go`` tells if a branch has its lines alone."""
        if not self._is_idle(statement, is_left):
            return None
        block = self._semantics.tree.block(statement)
        parent = self._semantics.tree.parent(statement)
        if isinstance(parent, ast.Module) or not self._is_all_idle(block, is_left):
            return self._idle((statement,))
        is_branch = isinstance(parent, ast.If) and self._is_mere(parent, block) and may_go(parent)
        return self._idle(tuple(block), whole=True, branch=parent if is_branch and isinstance(parent, ast.If) else None)

    def leads(self, call: ast.Call) -> bool:
        """Whether a call in an idle statement is the one to speak of: the first that cuts a graph, or the first of all."""
        calls = [each for each in self._calls(self._semantics.tree.statement(call)) if each is not None]
        cutting = (each for each in calls if self._wrappers.cuts_graph(self._wrappers.calls[each].data))
        return call is next(cutting, calls[0])

    def _idle(self, statements: tuple[ast.stmt, ...], *, whole: bool = False, branch: ast.If | None = None) -> Idle[ast.stmt]:
        calls = [call for statement in statements for call in self._calls(statement) if call is not None]
        itself = all_of(*map(self._unwrapped.is_itself, calls))
        detached = all_of(*(self._unwrapped.is_detached(self._wrappers.calls[call].data) for call in calls))
        return Idle(statements, itself, detached, whole, branch)

    def _is_all_idle(self, block: list[ast.stmt], is_left: Question) -> bool:
        if block[0] not in self._blocks:
            self._blocks[block[0]] = all(self._is_idle(other, is_left) for other in block)
        return self._blocks[block[0]]

    def _is_idle(self, statement: ast.stmt, is_left: Question) -> bool:
        """Whether nothing is left of a statement without Variable: ``x = Variable(x)``, ``x, y = Variable(x), Variable(y)``."""
        calls = list(self._calls(statement))
        return bool(calls) and not any(call is None or is_left(call) for call in calls)

    def _calls(self, statement: ast.stmt) -> Iterator[ast.Call | None]:
        """The calls of Variable that give each target itself; ``None`` for what is something else."""
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            yield from self._pairs(statement.targets[0], statement.value)

    def _pairs(self, target: ast.expr, value: ast.expr) -> Iterator[ast.Call | None]:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for pair in zip(target.elts, value.elts):
                yield from self._pairs(*pair)
        elif dotted(target) is None or dotted(target) != dotted(value):  # unless it was unwrapped before
            yield value if isinstance(value, ast.Call) and self._wraps(value, target) else None

    def _wraps(self, call: ast.Call, target: ast.expr) -> bool:
        """Whether a call does nothing but wrap what it is assigned to."""
        wrapping = self._wrappers.calls.get(call)
        if wrapping is None or makes_leaf(wrapping) or self._wrappers.cuts_on_purpose(call):
            return False
        is_same = dotted(target) is not None and dotted(target) == dotted(wrapping.data)
        return is_same and not (isinstance(target, ast.Name) and self._is_made_here(target, wrapping.data))

    def _is_made_here(self, target: ast.Name, data: ast.expr) -> bool:
        """Whether a name is one of a class or function by its assignment alone: ``noise = Variable(noise)`` of a global."""
        binding = self._semantics.bindings.of(target)
        if binding is None or isinstance(binding.scope.node, ast.Module) or not isinstance(data, ast.Name):
            return False
        reaching = self._semantics.bindings.reaching(data)
        return not any(each.scope is binding.scope and each is not binding for each in reaching)

    @staticmethod
    def _is_mere(branch: ast.If, block: list[ast.stmt]) -> bool:
        """Whether a branch is there for its block alone: no else, nothing but a look at a value."""
        if branch.orelse or block is not branch.body:
            return False
        acts = [part for part in ast.walk(branch.test) if isinstance(part, (ast.Call, ast.NamedExpr, ast.Await))]
        return all(isinstance(act, ast.Call) and isinstance(act.func, ast.Name) and act.func.id == "isinstance" for act in acts)
