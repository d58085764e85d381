"""Which code may run after which: the control flow graph of each scope, and questions about its paths.

Every node belongs to the step of the graph that it stands in. Within a step the order is that of evaluation, as far as the
places in the text tell it.
"""

from __future__ import annotations

import ast
import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from torchlint.semantics.code.flow_graph import Builder, FlowScope, Graph, in_order_of_evaluation
from torchlint.semantics.code.tree import Tree

__all__ = ["Ahead", "ControlFlow", "FlowScope"]

_Obstacles: TypeAlias = dict[ast.AST, list[ast.AST]]
"""The steps that paths must not pass, each with the nodes in it that are meant."""

_NEAR = 4
"""So many nodes are looked at before a search for all of them."""


class ControlFlow:
    """Answers questions about the paths through the scopes of one file; graphs are built as they are asked for."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._graphs: dict[ast.AST, Graph] = {}
        self._scopes: dict[ast.AST, FlowScope] = {}
        self._steps: dict[ast.AST, ast.AST] = {}
        self._ranks: dict[ast.AST, dict[ast.AST, int]] = {}
        self._memory = _Memory()

    def scope(self, node: ast.AST) -> FlowScope:
        """The function, class or module whose graph ``node`` is a step of; a function's own node is one of the scope around."""
        if (known := self._scopes.get(node)) is not None:
            return known
        scope: FlowScope = self._tree.module
        passed: list[ast.AST] = []
        child = node
        for parent in self._tree.ancestors(node):
            if (known := self._scopes.get(child)) is not None:
                scope = known
                break
            passed.append(child)
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and isinstance(child, ast.stmt):
                scope = parent
                break
            child = parent
        for part in passed:
            self._scopes[part] = scope
        return scope

    def step(self, node: ast.AST) -> ast.AST:
        """The step that ``node`` stands in."""
        if (known := self._steps.get(node)) is not None:
            return known
        steps = self._graph(self.scope(node)).successors
        passed: list[ast.AST] = []
        current: ast.AST | None = node
        while current is not None and current not in steps:
            if isinstance(current, ast.expr):
                if (known := self._steps.get(current)) is not None:
                    current = known
                    break
                passed.append(current)
            current = self._tree.parent(current)
        found = current if current is not None else self._tree.statement(node)
        self._steps.update(dict.fromkeys(passed, found))
        self._steps[node] = found
        return found

    def may_follow(self, first: ast.AST, then: ast.AST, avoiding: Collection[ast.AST] = ()) -> bool:
        """Whether ``then`` may run after ``first`` did, with none of ``avoiding`` in between.

        All are of one scope; of other scopes nothing is known, and the answer is no. A node may follow itself round a loop.
        """
        scope = self.scope(first)
        if self.scope(then) is not scope:
            return False
        start, goal = self.step(first), self.step(then)
        obstacles = self._obstacles(avoiding, scope)
        behind = [node for node in obstacles.get(start, ()) if self.is_evaluated_before(start, first, node)]
        if start is goal and self.is_evaluated_before(start, first, then):
            if not any(self.is_evaluated_before(start, obstacle, then) for obstacle in behind):
                return True
        if behind or any(self.is_evaluated_before(goal, obstacle, then) for obstacle in obstacles.get(goal, ())):
            return False
        return self._leads(scope, start, obstacles, goal)

    def may_follow_any(self, firsts: Collection[ast.AST], then: ast.AST, avoiding: Collection[ast.AST] = ()) -> bool:
        """Whether ``then`` may run after any of ``firsts`` did, as `may_follow` tells of one, at the cost of one question."""
        scope, goal = self.scope(then), self.step(then)
        obstacles = self._obstacles(avoiding, scope)
        is_shielded = any(self.is_evaluated_before(goal, obstacle, then) for obstacle in obstacles.get(goal, ()))
        starts: list[ast.AST] = []
        for first in firsts:
            if self.scope(first) is not scope:
                continue
            start = self.step(first)
            behind = [node for node in obstacles.get(start, ()) if self.is_evaluated_before(start, first, node)]
            if start is goal and self.is_evaluated_before(start, first, then):
                if not any(self.is_evaluated_before(start, obstacle, then) for obstacle in behind):
                    return True
            if not behind:
                starts.append(start)
        return not is_shielded and goal in self._reached(scope, starts, obstacles, goal)

    def ahead_of(
        self,
        scope: FlowScope,
        firsts: Collection[ast.AST],
        avoiding: Collection[ast.AST] = (),
        up_to: Iterable[ast.AST] | None = None,
    ) -> Ahead:
        """What may run in ``scope`` after any of ``firsts`` did, with none of ``avoiding`` in between: for many questions.

        Where ``up_to`` is given, only these are asked about.
        """
        obstacles = self._obstacles(avoiding, scope)
        starts: dict[ast.AST, list[ast.AST]] = {}
        for first in firsts:
            if self.scope(first) is scope:
                starts.setdefault(self.step(first), []).append(first)
        open_starts = [
            step
            for step, nodes in starts.items()
            if not all(self._is_shut_in(step, node, obstacles.get(step, ())) for node in nodes)
        ]
        limit = math.inf
        if up_to is not None:
            order = self._graph(scope).order
            limit = max((order.get(self.step(node), 0) for node in up_to), default=0)
        return Ahead(self, scope, starts, obstacles, self._reached(scope, open_starts, obstacles, limit=limit))

    def leads_to_any(self, first: ast.AST, nodes: Sequence[ast.expr], avoiding: Collection[ast.AST] = ()) -> bool:
        """Whether any of ``nodes``, in the order of the text, may run after ``first`` did, as `may_follow` tells of one.

        The next ones are looked at first, so that many such questions about many nodes are cheap where the answer is near.
        """
        scope = self.scope(first)
        statement = self._tree.statement(first)
        place = bisect_left(nodes, (statement.lineno, statement.col_offset), key=_position)
        near = nodes[place : place + _NEAR]
        if near and any(map(self.ahead_of(scope, [first], avoiding, up_to=near).includes, near)):
            return True
        others = nodes[place + _NEAR :] if next(self._tree.loops(first), None) is None else nodes
        return bool(others) and any(map(self.ahead_of(scope, [first], avoiding, up_to=others).includes, others))

    def _is_shut_in(self, step: ast.AST, node: ast.AST, obstacles: Collection[ast.AST]) -> bool:
        """Whether an obstacle comes behind ``node`` in its own step."""
        return any(self.is_evaluated_before(step, node, obstacle) for obstacle in obstacles)

    def following(self, node: ast.AST, avoiding: Collection[ast.AST] = ()) -> Iterator[ast.AST]:
        """The steps that may run after that of ``node``, with none of ``avoiding`` in between, in no certain order.

        The step of one of ``avoiding`` is not among them, nor is what only comes behind it; that of ``node`` is one where a
        loop leads back to it.
        """
        scope = self.scope(node)
        start = self.step(node)
        obstacles = self._obstacles(avoiding, scope)
        if any(self.is_evaluated_before(start, node, obstacle) for obstacle in obstacles.get(start, ())):
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
        if any(self.is_evaluated_before(start, node, obstacle) for obstacle in obstacles.get(start, ())):
            return False
        if start in graph.exits:
            return True
        return any(step in graph.exits and step not in obstacles for step in self._reached(scope, start, obstacles))

    def may_start_with(self, scope: FlowScope, node: ast.AST, avoiding: Collection[ast.AST] = ()) -> bool:
        """Whether ``node`` may be reached from the start of its ``scope`` with none of ``avoiding`` before it."""
        graph = self._graph(scope)
        obstacles = self._obstacles(avoiding, scope)
        goal = self.step(node)
        if any(self.is_evaluated_before(goal, obstacle, node) for obstacle in obstacles.get(goal, ())):
            return False
        for entry in graph.entries:
            if entry is goal:
                return True
            if entry not in obstacles and self._leads(scope, entry, obstacles, goal):
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

    # --- paths -------------------------------------------------------------------------------------------------------

    def _leads(self, scope: FlowScope, start: ast.AST, obstacles: _Obstacles, goal: ast.AST) -> bool:
        """Whether a path leads from ``start`` to ``goal`` past all obstacles.

        A search ends at the goal, and looks at nothing that comes behind it for good. Where the same start, or the same goal,
        is asked about again, all that can be reached from it, or all that it can be reached from, is worked out once.
        """
        memory, order = self._memory, self._graph(scope).order
        if order.get(start, 0) > order.get(goal, 0):
            return False
        from_start, to_goal = (start, id(obstacles)), (goal, id(obstacles))
        if (ahead := memory.ahead.get(from_start)) is not None:
            return goal in ahead
        if (behind := memory.behind.get(to_goal)) is not None:
            return start in behind
        if from_start in memory.asked:
            ahead = self._reached(scope, start, obstacles)
            memory.keep_ahead(from_start, ahead)
            return goal in ahead
        if to_goal in memory.asked:
            behind = self._leading(scope, goal, obstacles)
            memory.keep_behind(to_goal, behind)
            return start in behind
        memory.asked.update((from_start, to_goal))
        return goal in self._reached(scope, start, obstacles, goal)

    def _leading(self, scope: FlowScope, goal: ast.AST, obstacles: _Obstacles) -> set[ast.AST]:
        """The steps from which a path leads to ``goal``; it may start at an obstacle, but not pass one."""
        predecessors = self._graph(scope).predecessors
        seen: set[ast.AST] = set()
        stack = list(predecessors.get(goal, ()))
        while stack:
            step = stack.pop()
            if step not in seen:
                seen.add(step)
                if step not in obstacles:
                    stack.extend(predecessors.get(step, ()))
        return seen

    def _reached(
        self,
        scope: FlowScope,
        start: ast.AST | list[ast.AST],
        obstacles: _Obstacles,
        goal: ast.AST | None = None,
        limit: float = math.inf,
    ) -> set[ast.AST]:
        """The steps that may come after ``start`` (or several), not passing obstacles but reaching them.

        The search ends at ``goal``; what comes behind that in the order of the graph, or behind ``limit``, is not looked at.
        """
        successors, order = self._graph(scope).successors, self._graph(scope).order
        if goal is not None:
            limit = order.get(goal, 0)
        seen: set[ast.AST] = set()
        starts = start if isinstance(start, list) else [start]
        stack = [step for before in starts for step in successors.get(before, ())]
        while stack:
            step = stack.pop()
            if step in seen or order[step] > limit:
                continue
            seen.add(step)
            if step is goal:
                break
            if step not in obstacles:
                stack.extend(successors.get(step, ()))
        return seen

    def _obstacles(self, avoiding: Collection[ast.AST], scope: FlowScope) -> _Obstacles:
        """The obstacles of one scope, by their steps; the very same dict for the same question, as long as it is remembered."""
        last = self._memory.last
        if last is not None and avoiding is last[0] and scope is last[1] and isinstance(avoiding, tuple):
            return last[2]  # the same obstacles for many questions: not even hashed again
        key = (scope, tuple(avoiding))
        found = self._memory.obstacles.get(key)
        if found is None:
            found = {}
            for node in avoiding:
                if self.scope(node) is scope:
                    found.setdefault(self.step(node), []).append(node)
            self._memory.keep_obstacles(key, found)
        self._memory.last = (avoiding, scope, found)
        return found

    def is_evaluated_before(self, step: ast.AST, one: ast.AST, other: ast.AST) -> bool:
        """Whether, within a step, ``one`` is done before ``other`` is."""
        if one is other:
            return False
        ranks = self._ranks.get(step)
        if ranks is None:
            ranks = self._ranks[step] = {node: rank for rank, node in enumerate(in_order_of_evaluation(step))}
        return ranks.get(one, -1) < ranks.get(other, -1)

    def _graph(self, scope: FlowScope) -> Graph:
        graph = self._graphs.get(scope)
        if graph is None:
            graph = self._graphs[scope] = Builder().build(scope.body)
        return graph


@dataclass(frozen=True, slots=True)
class Ahead:
    """What may run after any of several nodes of a scope did, past all obstacles; made by `ControlFlow.ahead_of`."""

    _flow: ControlFlow
    _scope: FlowScope
    _starts: dict[ast.AST, list[ast.AST]]
    """The steps of the nodes, with the nodes."""
    _obstacles: _Obstacles
    _reached: set[ast.AST]

    @property
    def steps(self) -> Collection[ast.AST]:
        """All steps that may hold such code; parts of them may not be."""
        return self._reached | self._starts.keys()

    def includes(self, node: ast.AST) -> bool:
        """Whether ``node`` may run then, as `ControlFlow.may_follow` tells of each of the nodes."""
        flow = self._flow
        if flow.scope(node) is not self._scope:
            return False
        step = flow.step(node)
        before = [each for each in self._obstacles.get(step, ()) if flow.is_evaluated_before(step, each, node)]
        for first in self._starts.get(step, ()):
            if flow.is_evaluated_before(step, first, node):
                if not any(flow.is_evaluated_before(step, first, obstacle) for obstacle in before):
                    return True
        return not before and step in self._reached


class _Memory:
    """What questions about paths have been answered; all is forgotten when it gets to be too much."""

    _MOST = 500_000
    """Steps that are remembered at once: some tens of megabytes."""

    def __init__(self) -> None:
        self.obstacles: dict[tuple[FlowScope, tuple[ast.AST, ...]], _Obstacles] = {}
        self.asked: set[tuple[ast.AST, int]] = set()
        """The starts and goals that were asked about, each with the identity of its obstacles."""
        self.ahead: dict[tuple[ast.AST, int], set[ast.AST]] = {}
        self.behind: dict[tuple[ast.AST, int], set[ast.AST]] = {}
        self.last: tuple[Collection[ast.AST], FlowScope, _Obstacles] | None = None
        """The obstacles that were asked for last."""
        self._size = self._obstacles_size = 0

    def keep_ahead(self, key: tuple[ast.AST, int], steps: set[ast.AST]) -> None:
        """Remembers what can be reached from a start."""
        self._make_room(len(steps))
        self.ahead[key] = steps

    def keep_behind(self, key: tuple[ast.AST, int], steps: set[ast.AST]) -> None:
        """Remembers what a goal can be reached from."""
        self._make_room(len(steps))
        self.behind[key] = steps

    def keep_obstacles(self, key: tuple[FlowScope, tuple[ast.AST, ...]], obstacles: _Obstacles) -> None:
        """Remembers obstacles; everything else rests on their identity, and is forgotten when they are."""
        self._obstacles_size += len(key[1]) + 1
        if self._obstacles_size > self._MOST:
            self.obstacles.clear()
            self._obstacles_size = 0
            self._make_room(self._MOST)
        self.obstacles[key] = obstacles

    def _make_room(self, size: int) -> None:
        self._size += size
        if self._size > self._MOST:
            self.asked.clear()
            self.ahead.clear()
            self.behind.clear()
            self._size = 0


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
