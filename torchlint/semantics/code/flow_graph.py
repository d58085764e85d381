"""The control flow graph of a scope.

Its vertices are *steps*: simple statements, and of compound ones the parts that are evaluated by themselves (a test, an
iterable, the target of a ``for``, a context manager, the subject of a ``match``, an ``except`` clause). An exception may lead
from behind any step of a ``try`` to its handlers; calls are taken to return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from torchlint.semantics.code.tree import LOOPS, TRIES, Function, Loop

FlowScope: TypeAlias = ast.Module | ast.ClassDef | Function


@dataclass(slots=True)
class Graph:
    """The steps of a scope: what may come right after each, which come first, and behind which the scope may end."""

    successors: dict[ast.AST, list[ast.AST]] = field(default_factory=dict)
    entries: list[ast.AST] = field(default_factory=list)
    exits: set[ast.AST] = field(default_factory=set)
    order: dict[ast.AST, int] = field(default_factory=dict)
    """Numbers that no path descends: those of the text, with one number for all that stands in one outermost loop."""
    _predecessors: dict[ast.AST, list[ast.AST]] | None = None

    @property
    def predecessors(self) -> dict[ast.AST, list[ast.AST]]:
        """What may come right before each step."""
        if self._predecessors is None:
            self._predecessors = {}
            for step, following in self.successors.items():
                for successor in following:
                    self._predecessors.setdefault(successor, []).append(step)
        return self._predecessors


@dataclass(slots=True)
class _Jumps:
    """The steps from which control leaves a construct otherwise than at its end."""

    breaks: list[ast.AST] = field(default_factory=list)
    continues: list[ast.AST] = field(default_factory=list)
    returns: list[ast.AST] = field(default_factory=list)


class Builder:
    """Builds the graph of one scope."""

    def __init__(self) -> None:
        self._graph = Graph()
        self._number = self._depth = 0
        self._jumps = _Jumps()
        self._watched: list[list[ast.AST]] = []
        """For each try being built, the steps behind which it may be left by an exception."""

    def build(self, body: list[ast.stmt]) -> Graph:
        """The graph of a scope with this body."""
        ends = self._block(body, None)
        self._graph.exits.update(ends or ())
        self._graph.exits.update(self._jumps.returns)
        return self._graph

    def _step(self, node: ast.AST, before: list[ast.AST] | None) -> list[ast.AST]:
        """Adds a step behind those in ``before`` (None: the scope's start); the list of it alone."""
        self._graph.successors.setdefault(node, [])
        self._graph.order.setdefault(node, self._number)
        if not self._depth:
            self._number += 1
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
        self._depth += 1
        ends = self._loop_parts(loop, before)
        self._depth -= 1
        if not self._depth:
            self._number += 1
        return ends

    def _loop_parts(self, loop: Loop, before: list[ast.AST] | None) -> list[ast.AST]:
        if isinstance(loop, ast.While):
            head = self._step(loop.test, before)
        else:
            head = self._step(loop.target, self._step(loop.iter, before))
        around = self._jumps
        self._jumps = _Jumps(returns=around.returns)
        ends = self._block(loop.body, head) or []
        self._connect([*ends, *self._jumps.continues], head[0])
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


def in_order_of_evaluation(node: ast.AST) -> Iterator[ast.AST]:
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
        yield from in_order_of_evaluation(part)
    yield node
