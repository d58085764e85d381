"""Collective operations that some processes call alone, and those that nobody waits for."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, in_body, last_name

Node = TypeVar("Node")
Place = TypeVar("Place")

_COLLECTIVES = frozenset(
    {
        *("barrier", "all_reduce", "reduce", "broadcast", "broadcast_object_list", "all_gather", "all_gather_object", "gather"),
        *("gather_object", "scatter", "scatter_object_list", "reduce_scatter", "all_to_all", "all_gather_into_tensor"),
        *("reduce_scatter_tensor", "all_to_all_single", "monitored_barrier"),
    }
)
_STARTED = frozenset({"isend", "irecv"})
_RANK = re.compile(r"(^|_)(local_|global_|world_|node_)?rank$", re.IGNORECASE)
_MAIN = re.compile(r"(^|\.)is_(main_process|master|main|rank_?0|rank_zero|global_zero|local_master|root)(_process)?$")


@dataclass(frozen=True, eq=False, slots=True)
class Lonely(Generic[Node, Place]):
    """A collective in the ``branch`` of a ``condition`` that is true of some processes only.

    ``is_last`` and ``is_only`` say where it stands there, if it can be put behind the branch, in front of ``following``.
    """

    branch: Place
    condition: Node
    following: Place | None
    is_last: bool
    is_only: bool


@dataclass(frozen=True, eq=False, slots=True)
class Unwaited:
    """An operation that goes on in the background; ``name`` is what it is called that nobody waits for, if anything."""

    name: str


class LonelyCollectives:
    """Finds such calls of ``torch.distributed`` in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def alone(self) -> dict[ast.Call, Lonely[ast.expr, ast.stmt]]:
        """The collectives that are called under a condition on the rank."""
        found: dict[ast.Call, Lonely[ast.expr, ast.stmt]] = {}
        for name in sorted(_COLLECTIVES):
            ruled = [(call, branch) for call in self._calls(name) if (branch := self._branch_of_rank(call)) is not None]
            for call, branch in ruled:
                others = [other for other in self._calls(name) if other is not call]
                if self._is_of_group(call) or any(self._may_answer(other, call, branch) for other in others):
                    continue
                if not self._is_answered_by_function(branch, others):
                    found[call] = self._described(call, branch)
        return found

    @cached_property
    def unwaited(self) -> dict[ast.Call, Unwaited]:
        """The operations that are started and that nobody waits for; collectives are over at a barrier behind them."""
        found: dict[ast.Call, Unwaited] = {}
        last: dict[ast.AST | None, int] = {}
        for barrier in self._calls("barrier"):
            function = self._tree.function(barrier)
            last[function] = max(barrier.lineno, last.get(function, 0))
        for name in sorted(_COLLECTIVES | _STARTED):
            for call in self._calls(name):
                if name in _COLLECTIVES and last.get(self._tree.function(call), 0) > call.lineno:
                    continue
                if name in _STARTED or any(word.arg == "async_op" and _is_true(word.value) for word in call.keywords):
                    match self._tree.parent(call):
                        case ast.Expr():
                            found[call] = Unwaited("")
                        case ast.Assign(targets=[ast.Name() as target]) if self._is_unused(target):
                            found[call] = Unwaited(target.id)
        return found

    def _calls(self, name: str) -> list[ast.Call]:
        calls = self._semantics.facts.calls.get(name, ())
        wanted = (f"torch.distributed.{name}", f"torch.distributed.distributed_c10d.{name}")
        return [call for call in calls if self._semantics.qualified_name(call.func) in wanted]

    def _is_unused(self, target: ast.Name) -> bool:
        binding = self._semantics.bindings.of(target)
        function = self._tree.function(target)
        return binding is not None and not binding.uses and isinstance(function, FUNCTIONS)

    # --- who calls it ----------------------------------------------------------------------------------------------------

    def _branch_of_rank(self, call: ast.Call) -> ast.If | None:
        """The innermost ``if rank == 0:`` around a call, in its function."""
        child: ast.AST = call
        for parent in self._tree.ancestors(call):
            if isinstance(parent, (*FUNCTIONS, ast.Lambda)):
                return None
            if isinstance(parent, ast.If) and in_body(child, parent) and self._is_of_one(parent.test):
                return parent
            child = parent
        return None

    def _is_of_one(self, test: ast.expr) -> bool:
        """Whether a condition is true of one rank and not of another: a comparison of the rank with a number."""
        match test:
            case ast.BoolOp(op=ast.And(), values=values):
                return any(map(self._is_of_one, values))
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=int())]):
                return self._is_rank(left)
            case ast.Compare(left=ast.Constant(value=int()), ops=[ast.Eq()], comparators=[right]):
                return self._is_rank(right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._is_rank(operand)
            case ast.Call(func=function, args=[], keywords=[]):
                return _MAIN.search(ast.unparse(function)) is not None
        return False

    def _is_rank(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=function, args=[]):
                return (self._semantics.qualified_name(function) or "") == "torch.distributed.get_rank" or ast.unparse(
                    function
                ).endswith("get_rank")
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return _RANK.search(name) is not None
        return False

    def _may_answer(self, other: ast.Call, call: ast.Call, branch: ast.If) -> bool:
        """Whether the processes that do not take a branch may call the same there: in another branch on ranks, or below.

        So may another method of the same class, as ``__enter__`` and ``__exit__`` of a context manager share a barrier; not
        under the very same condition.
        """
        if self._tree.function(other) is not self._tree.function(call):
            if not self._is_of_same_class(other, call):
                return False
            condition, same = self._branch_of_rank(other), ast.dump(branch.test)
            if condition is not None and ast.dump(condition.test) == same:
                return False
        if self._tree.inside(other, branch):
            return not in_body(self._child_of(branch, other), branch)
        if self._ends(branch) and other.lineno > branch.lineno and self._tree.function(other) is self._tree.function(call):
            return True
        return any(
            isinstance(parent, ast.If) and re.search(r"rank|main|master|world", ast.unparse(parent.test)) is not None
            for parent in self._tree.ancestors(other)
        )

    def _ends(self, branch: ast.If) -> bool:
        """Whether what is behind a branch runs only where that is not taken."""
        return isinstance(branch.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))

    def _is_answered_by_function(self, branch: ast.If, others: list[ast.Call]) -> bool:
        """Whether the other processes may call a function of the file that has the same collective, or one that calls it."""
        names = {each.name for other in others if isinstance(each := self._tree.function(other), FUNCTIONS)}
        for name in tuple(names):
            callers = (self._tree.function(call) for call in self._semantics.facts.calls.get(name, ()))
            names |= {each.name for each in callers if isinstance(each, FUNCTIONS)}
        rest: list[ast.stmt] = [*branch.orelse]
        if self._ends(branch):
            block = self._tree.block(branch)
            rest += block[block.index(branch) + 1 :]
        return any(last_name(call.func) in names for each in rest for call in ast.walk(each) if isinstance(call, ast.Call))

    def _is_of_same_class(self, other: ast.Call, call: ast.Call) -> bool:
        """Whether two calls stand in methods of one class."""
        one, another = self._tree.function(call), self._tree.function(other)
        if not isinstance(one, FUNCTIONS) or not isinstance(another, FUNCTIONS):
            return False
        owner = self._tree.parent(one)
        return isinstance(owner, ast.ClassDef) and self._tree.parent(another) is owner

    def _child_of(self, branch: ast.If, node: ast.AST) -> ast.AST:
        child = node
        for parent in self._tree.ancestors(node):
            if parent is branch:
                break
            child = parent
        return child

    @staticmethod
    def _is_of_group(call: ast.Call) -> bool:
        """Whether a call may be of a group of processes, in which all take part."""
        is_open = any(word.arg in (None, "group") for word in call.keywords) or any(
            isinstance(each, ast.Starred) for each in call.args
        )
        return is_open or len(call.args) > 2

    def _described(self, call: ast.Call, branch: ast.If) -> Lonely[ast.expr, ast.stmt]:
        statement = self._tree.statement(call)
        can_leave = (
            isinstance(statement, ast.Expr)
            and statement.value is call
            and statement is branch.body[-1]
            and not branch.orelse
            and not any(isinstance(part, (ast.Return, ast.Raise, ast.Break, ast.Continue)) for part in ast.walk(branch))
            and not any(self._is_made_in(part, branch) for part in ast.walk(call) if isinstance(part, ast.Name))
        )
        block = self._tree.block(branch)
        following = next(iter(block[block.index(branch) + 1 :]), None)
        return Lonely(branch, branch.test, following, can_leave, can_leave and len(branch.body) == 1)

    def _is_made_in(self, name: ast.Name, branch: ast.If) -> bool:
        return any(self._tree.inside(binding.node, branch) for binding in self._semantics.bindings.reaching(name))


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True
