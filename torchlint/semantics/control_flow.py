"""Which code may run after which: the control flow graph of each scope, and questions about its paths.

The vertices are *steps*: simple statements, and of compound ones the parts that are evaluated by themselves (a test, an
iterable, the target of a ``for``, a context manager, the subject of a ``match``, an ``except`` clause). Every node belongs to
the step that it stands in. Within a step the order is that of evaluation, as far as the places in the text tell it. An
exception may lead from behind any step of a ``try`` to its handlers; calls are taken to return.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from torchlint.semantics.tree import LOOPS, Function, Loop, Tree

FlowScope: TypeAlias = ast.Module | ast.ClassDef | Function

TRIES: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))


class ControlFlow:
    """Answers questions about the paths through the scopes of one file; graphs are built as they are asked for."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._graphs: dict[ast.AST, _Graph] = {}
        self._ranks: dict[ast.AST, dict[ast.AST, int]] = {}

    def scope(self, node: ast.AST) -> FlowScope:
        """The function, class or module whose graph ``node`` is a step of; a function's own node is one of the scope around."""
        child = node
        for parent in self._tree.ancestors(node):
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and isinstance(child, ast.stmt):
                if child in parent.body:
                    return parent
            child = parent
        return self._tree.module

    def step(self, node: ast.AST) -> ast.AST:
        """The step that ``node`` stands in."""
        steps = self._graph(self.scope(node)).successors
        current: ast.AST | None = node
        while current is not None and current not in steps:
            current = self._tree.parent(current)
        return current if current is not None else self._tree.statement(node)

    def may_follow(self, first: ast.AST, then: ast.AST, avoiding: Collection[ast.AST] = ()) -> bool:
        """Whether ``then`` may run after ``first`` did, with none of ``avoiding`` in between.

        All are of one scope; of other scopes nothing is known, and the answer is no. A node may follow itself round a loop.
        """
        scope = self.scope(first)
        if self.scope(then) is not scope:
            return False
        start, goal = self.step(first), self.step(then)
        obstacles = self._obstacles(avoiding, scope)
        behind = [node for node in obstacles.get(start, ()) if self._evaluated_before(start, first, node)]
        if start is goal and self._evaluated_before(start, first, then):
            if not any(self._evaluated_before(start, obstacle, then) for obstacle in behind):
                return True
        if behind or any(self._evaluated_before(goal, obstacle, then) for obstacle in obstacles.get(goal, ())):
            return False
        return goal in self._reached(scope, start, obstacles, goal)

    def may_follow_any(self, firsts: Collection[ast.AST], then: ast.AST, avoiding: Collection[ast.AST] = ()) -> bool:
        """Whether ``then`` may run after any of ``firsts`` did, as `may_follow` tells of one, at the cost of one question."""
        scope, goal = self.scope(then), self.step(then)
        obstacles = self._obstacles(avoiding, scope)
        is_shielded = any(self._evaluated_before(goal, obstacle, then) for obstacle in obstacles.get(goal, ()))
        starts: list[ast.AST] = []
        for first in firsts:
            if self.scope(first) is not scope:
                continue
            start = self.step(first)
            behind = [node for node in obstacles.get(start, ()) if self._evaluated_before(start, first, node)]
            if start is goal and self._evaluated_before(start, first, then):
                if not any(self._evaluated_before(start, obstacle, then) for obstacle in behind):
                    return True
            if not behind:
                starts.append(start)
        return not is_shielded and goal in self._reached(scope, starts, obstacles, goal)

    def following(self, node: ast.AST, avoiding: Collection[ast.AST] = ()) -> Iterator[ast.AST]:
        """The steps that may run after that of ``node``, with none of ``avoiding`` in between, in no certain order.

        The step of one of ``avoiding`` is not among them, nor is what only comes behind it; that of ``node`` is one where a
        loop leads back to it.
        """
        scope = self.scope(node)
        start = self.step(node)
        obstacles = self._obstacles(avoiding, scope)
        if any(self._evaluated_before(start, node, obstacle) for obstacle in obstacles.get(start, ())):
            return
        for step in self._reached(scope, start, obstacles):
            if step not in obstacles:
                yield step

    def may_end(self, node: ast.AST, avoiding: Collection[ast.AST] = ()) -> bool:
        """Whether the scope may come to its end (or a ``return``) after ``node``, with none of ``avoiding`` in between."""
        scope = self.scope(node)
        graph = self._graph(scope)
        obstacles = self._obstacles(avoiding, scope)
        start = self.step(node)
        if any(self._evaluated_before(start, node, obstacle) for obstacle in obstacles.get(start, ())):
            return False
        if start in graph.exits:
            return True
        return any(step in graph.exits and step not in obstacles for step in self._reached(scope, start, obstacles))

    def may_start_with(self, scope: FlowScope, node: ast.AST, avoiding: Collection[ast.AST] = ()) -> bool:
        """Whether ``node`` may be reached from the start of its ``scope`` with none of ``avoiding`` before it."""
        graph = self._graph(scope)
        obstacles = self._obstacles(avoiding, scope)
        goal = self.step(node)
        if any(self._evaluated_before(goal, obstacle, node) for obstacle in obstacles.get(goal, ())):
            return False
        for entry in graph.entries:
            if entry is goal:
                return True
            if entry not in obstacles and goal in self._reached(scope, entry, obstacles, goal):
                return True
        return False

    def may_pass(self, scope: FlowScope, avoiding: Collection[ast.AST]) -> bool:
        """Whether ``scope`` may run from its start to its end (or a ``return``) with none of ``avoiding`` on the way."""
        graph = self._graph(scope)
        obstacles = self._obstacles(avoiding, scope)
        for entry in graph.entries:
            if entry in obstacles:
                continue
            if entry in graph.exits:
                return True
            if any(step in graph.exits and step not in obstacles for step in self._reached(scope, entry, obstacles)):
                return True
        return False

    def may_come_round(self, loop: Loop, avoiding: Collection[ast.AST]) -> bool:
        """Whether a whole round of ``loop`` may pass without any of ``avoiding``."""
        head: ast.AST = loop.test if isinstance(loop, ast.While) else loop.target
        scope = self.scope(loop)
        if any(self.step(node) is head for node in avoiding if self.scope(node) is scope):
            return False
        first = self._graph(scope).bodies[loop]
        obstacles = self._obstacles(avoiding, scope)
        return any(
            step not in obstacles and (step is head or head in self._reached(scope, step, obstacles, head)) for step in first
        )

    # --- paths -------------------------------------------------------------------------------------------------------

    def _reached(
        self,
        scope: FlowScope,
        start: ast.AST | list[ast.AST],
        obstacles: dict[ast.AST, list[ast.AST]],
        goal: ast.AST | None = None,
    ) -> set[ast.AST]:
        """The steps that may come after ``start`` (or several), not passing obstacles but reaching them; up to ``goal``."""
        successors = self._graph(scope).successors
        seen: set[ast.AST] = set()
        starts = start if isinstance(start, list) else [start]
        stack = [step for before in starts for step in successors.get(before, ())]
        while stack:
            step = stack.pop()
            if step in seen:
                continue
            seen.add(step)
            if step is goal:
                break
            if step not in obstacles:
                stack.extend(successors.get(step, ()))
        return seen

    def _obstacles(self, avoiding: Collection[ast.AST], scope: FlowScope) -> dict[ast.AST, list[ast.AST]]:
        found: dict[ast.AST, list[ast.AST]] = {}
        for node in avoiding:
            if self.scope(node) is scope:
                found.setdefault(self.step(node), []).append(node)
        return found

    def _evaluated_before(self, step: ast.AST, one: ast.AST, other: ast.AST) -> bool:
        """Whether, within a step, ``one`` is done before ``other`` is."""
        if one is other:
            return False
        ranks = self._ranks.get(step)
        if ranks is None:
            ranks = self._ranks[step] = {node: rank for rank, node in enumerate(_in_order_of_evaluation(step))}
        return ranks.get(one, -1) < ranks.get(other, -1)

    def _graph(self, scope: FlowScope) -> _Graph:
        graph = self._graphs.get(scope)
        if graph is None:
            graph = self._graphs[scope] = _Builder().build(scope.body)
        return graph


@dataclass(slots=True)
class _Graph:
    """The steps of a scope: what may come right after each, which come first, and behind which the scope may end."""

    successors: dict[ast.AST, list[ast.AST]] = field(default_factory=dict)
    entries: list[ast.AST] = field(default_factory=list)
    exits: set[ast.AST] = field(default_factory=set)
    bodies: dict[ast.AST, list[ast.AST]] = field(default_factory=dict)
    """The steps that the body of each loop may start with."""


@dataclass(slots=True)
class _Jumps:
    """The steps from which control leaves a construct otherwise than at its end."""

    breaks: list[ast.AST] = field(default_factory=list)
    continues: list[ast.AST] = field(default_factory=list)
    returns: list[ast.AST] = field(default_factory=list)


class _Builder:
    """Builds the graph of one scope."""

    def __init__(self) -> None:
        self._graph = _Graph()
        self._jumps = _Jumps()
        self._watched: list[list[ast.AST]] = []
        """For each try being built, the steps behind which it may be left by an exception."""

    def build(self, body: list[ast.stmt]) -> _Graph:
        ends = self._block(body, None)
        self._graph.exits.update(ends or ())
        self._graph.exits.update(self._jumps.returns)
        return self._graph

    def _step(self, node: ast.AST, before: list[ast.AST] | None) -> list[ast.AST]:
        """Adds a step behind those in ``before`` (None: the scope's start); the list of it alone."""
        self._graph.successors.setdefault(node, [])
        if before is None:
            self._graph.entries.append(node)
        else:
            self._connect(before, node)
        for steps in self._watched:
            steps.append(node)
        return [node]

    def _connect(self, before: list[ast.AST], node: ast.AST) -> None:
        for step in before:
            found = self._graph.successors[step]
            if node not in found:
                found.append(node)

    def _block(self, body: list[ast.stmt], before: list[ast.AST] | None) -> list[ast.AST] | None:
        """Adds statements behind ``before``; the steps that their end is reached from."""
        for statement in body:
            before = self._statement(statement, before)
        return before

    def _statement(self, statement: ast.stmt, before: list[ast.AST] | None) -> list[ast.AST] | None:
        match statement:
            case ast.If():
                test = self._step(statement.test, before)
                behind = self._block(statement.body, test) or []
                return [*behind, *(self._block(statement.orelse, test) or [])]
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(statement, before)
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    before = self._step(item.context_expr, before)
                return self._block(statement.body, before)
            case ast.Match():
                return self._match(statement, before)
            case ast.Return():
                self._jumps.returns += self._step(statement, before)
                return []
            case ast.Raise():
                self._step(statement, before)
                return []
            case ast.Break():
                self._jumps.breaks += self._step(statement, before)
                return []
            case ast.Continue():
                self._jumps.continues += self._step(statement, before)
                return []
            case _ if isinstance(statement, TRIES):
                return self._try(statement, before)
        return self._step(statement, before)

    def _loop(self, loop: Loop, before: list[ast.AST] | None) -> list[ast.AST]:
        if isinstance(loop, ast.While):
            head = self._step(loop.test, before)
        else:
            head = self._step(loop.target, self._step(loop.iter, before))
        around = self._jumps
        self._jumps = _Jumps(returns=around.returns)
        ends = self._block(loop.body, head) or []
        self._connect([*ends, *self._jumps.continues], head[0])
        self._graph.bodies[loop] = [_first_step(loop.body[0])]
        breaks = self._jumps.breaks
        self._jumps = around
        endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)
        behind = [] if endless else self._block(loop.orelse, head) or []
        return [*behind, *breaks]

    def _match(self, statement: ast.Match, before: list[ast.AST] | None) -> list[ast.AST]:
        subject = self._step(statement.subject, before)
        ends: list[ast.AST] = []
        exhaustive = False
        for case in statement.cases:
            start = subject
            if case.guard is not None:
                start = self._step(case.guard, subject)
            elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                exhaustive = True
            ends += self._block(case.body, start) or []
        return ends if exhaustive else [*ends, *subject]

    def _try(self, statement: ast.Try, before: list[ast.AST] | None) -> list[ast.AST] | None:
        around = self._jumps
        if statement.finalbody:
            self._jumps = _Jumps()
        self._watched.append([])
        ends = self._block(statement.body, before)
        watched = self._watched.pop()
        ends = self._block(statement.orelse, ends)
        behind = list(ends or [])
        for handler in statement.handlers:
            behind += self._block(handler.body, self._step(handler, watched)) or []
        if not statement.finalbody:
            return behind
        inner, self._jumps = self._jumps, around
        entered = [*behind, *inner.breaks, *inner.continues, *inner.returns]
        finished = self._block(statement.finalbody, entered) or []
        for jumps, leaving in (
            (around.breaks, inner.breaks),
            (around.continues, inner.continues),
            (around.returns, inner.returns),
        ):
            if leaving:
                jumps += finished
        return finished if behind else []


def _first_step(statement: ast.stmt) -> ast.AST:
    """The step that a statement starts with."""
    match statement:
        case ast.If() | ast.While():
            return statement.test
        case ast.For() | ast.AsyncFor():
            return statement.iter
        case ast.With() | ast.AsyncWith():
            return statement.items[0].context_expr
        case ast.Match():
            return statement.subject
        case _ if isinstance(statement, TRIES):
            return _first_step(statement.body[0])
    return statement


def _in_order_of_evaluation(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a step, each behind its own parts; what an assignment stores to comes behind its value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            parts: list[ast.AST] = [value, *targets]
        case ast.AnnAssign(target=target, value=assigned):
            parts = [*([assigned] if assigned else []), target]
        case ast.NamedExpr(target=target, value=value):
            parts = [value, target]
        case _ if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            parts = list(node.decorator_list)
        case ast.ExceptHandler():
            parts = [node.type] if node.type else []
        case ast.Lambda():
            parts = []
        case ast.IfExp():
            parts = [node.test, node.body, node.orelse]
        case _ if isinstance(node, LOOPS):
            parts = []
        case _:
            parts = list(ast.iter_child_nodes(node))
    for part in parts:
        yield from _in_order_of_evaluation(part)
    yield node
