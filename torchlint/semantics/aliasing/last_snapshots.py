"""Snapshots that are taken anew at the end of each round: those of the last one, whatever changed before."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from torchlint.semantics import Binding, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, in_body, position
from torchlint.semantics.conditions.last_rounds import LastRounds
from torchlint.semantics.memory.places import Places


class LastSnapshots:
    """Tells of snapshots whether the last phase of each round takes them, ``if phase == "val":``, or its last round."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_behind(self, start: ast.AST, update: ast.AST, uses: Iterable[ast.AST]) -> bool:
        """Whether what is kept at ``start`` is kept again behind an update, before any of its uses."""
        loop, tree = self._renewing(start), self._semantics.tree
        if loop is not None and tree.inside(update, loop) and not any(tree.inside(use, loop) for use in uses):
            return True
        last = self._of_last_round(start)
        if last is None or not tree.inside(update, last):
            return False
        statement = tree.statement(start)
        block = tree.block(statement)
        behind = block[block.index(statement) + 1 :]
        if not isinstance(update, (ast.stmt, ast.expr)) or position(update) > position(statement):
            return False
        return all(not tree.inside(use, last) or any(tree.inside(use, each) for each in behind) for use in uses)

    def uses_behind(
        self, update: ast.AST, start: ast.AST, uses: Sequence[ast.expr], rebound: Sequence[ast.AST]
    ) -> Iterator[ast.expr]:
        """The uses of what is kept at ``start`` that may come behind an update, and before anything is kept anew.

        A use in ``if improved:`` comes behind what sets that, and so behind what is kept along with it.
        """
        following = self._semantics.of(Places).following
        cleared = {use: self._clearing(use, [start, *rebound]) for use in uses}
        yield from following(update, [use for use in uses if not cleared[use]], list(rebound))
        for use in uses:
            if cleared[use]:
                yield from following(update, [use], [*rebound, *cleared[use]])

    def _clearing(self, use: ast.expr, kept: Sequence[ast.AST]) -> list[ast.AST]:
        """What clears a flag that a use asks for, and that nothing sets but what keeps something right there."""
        tree = self._semantics.tree
        child: ast.AST = use
        for parent in tree.ancestors(use):
            if isinstance(parent, FUNCTIONS):
                break
            if isinstance(parent, ast.If) and isinstance(parent.test, ast.Name) and in_body(child, parent):
                bindings = self._semantics.bindings.reaching(parent.test)
                if bindings and all(self._is_flag(binding, kept) for binding in bindings):
                    return [binding.node for binding in bindings if _constant(binding.value) is False]
            child = parent
        return []

    def _is_flag(self, binding: Binding, kept: Sequence[ast.AST]) -> bool:
        """Whether a flag is cleared, or is set beside what keeps something."""
        truth = _constant(binding.value)
        if truth is not True or binding.path:
            return truth is False and not binding.path
        tree = self._semantics.tree
        block = tree.block(tree.statement(binding.node))
        return any(tree.statement(each) in block for each in kept)

    def _of_last_round(self, start: ast.AST) -> ast.For | None:
        """The loop whose last round keeps something at ``start`` for certain, if every n-th does: nothing ends it before."""
        tree, child, tests = self._semantics.tree, start, list[ast.expr]()
        for parent in tree.ancestors(start):
            match parent:
                case ast.If(test=test):
                    if not in_body(child, parent):
                        return None
                    tests.append(test)
                case ast.For(orelse=[]):
                    last = self._semantics.of(LastRounds)
                    is_left = any(isinstance(part, (ast.Break, ast.Return)) for part in ast.walk(parent))
                    holds = bool(tests) and not is_left and all(last.holds_in(parent, test) for test in tests)
                    return parent if holds else None
                case ast.While() | ast.Try() | ast.For():
                    return None
                case _ if isinstance(parent, FUNCTIONS):
                    return None
            child = parent
        return None

    def _renewing(self, start: ast.AST) -> ast.AST | None:
        """The outermost loop whose last phase keeps something anew at ``start``, on no other condition."""
        tree, child, phases = self._semantics.tree, start, list[ast.If]()
        loop: ast.AST | None = None
        for parent in tree.ancestors(start):
            match parent:
                case ast.If():
                    if not in_body(child, parent):
                        return None
                    phases.append(parent)
                case ast.For(target=ast.Name(id=name), iter=ast.List(elts=[*_, last]) | ast.Tuple(elts=[*_, last])) if phases:
                    if not all(_is_of(phase.test, name, last) for phase in phases):
                        return None
                    loop, phases = parent, []
                case ast.While() | ast.Try():
                    return None
                case _ if isinstance(parent, LOOPS):
                    if loop is None:
                        return None
                    loop = parent
                case _ if isinstance(parent, FUNCTIONS):
                    break
            child = parent
        return loop if not phases else None


def _constant(value: ast.expr | None) -> object:
    return value.value if isinstance(value, ast.Constant) else None


def _is_of(test: ast.expr, name: str, last: ast.expr) -> bool:
    """Whether a test asks for a phase that is written out."""
    match test:
        case ast.Compare(left=ast.Name(id=asked), ops=[ast.Eq()], comparators=[ast.Constant() as phase]):
            return asked == name and isinstance(last, ast.Constant) and last.value == phase.value
    return False
