"""Runs of models whose graph nobody uses: all that is read of what they give is detached on the spot."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Generic, TypeVar

from torchlint.semantics import Grad, Semantics, Type
from torchlint.semantics.autograd.gradient_uses import GradientUses
from torchlint.semantics.autograd.no_grad_runs import SUSPENDING
from torchlint.semantics.code.tree import FUNCTIONS, given_to, last_name
from torchlint.semantics.kinds.calls import is_without_parameters
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.modes.runs.cut_values import CutValues
from torchlint.semantics.modes.runs.recorded_runs import RecordedRuns

Node = TypeVar("Node")
Place = TypeVar("Place")

_COMPARING = re.compile(r"criterion|loss|metric|distance|similarity", re.IGNORECASE)
"""What is called that compares what a model gave: its own part of the graph is small."""
_CASTING = frozenset({"to", "cuda", "cpu", "float", "double", "half", "unsqueeze", "squeeze", "view", "reshape", "detach"})
"""Methods that make no graph of what has none."""
_LONGEST = 50
"""So many statements go into one block at most."""
_NOT_RUN = frozenset({"to", "cuda", "cpu", "train", "eval", "half", "float", "double", "requires_grad_", "apply", "state_dict"})
"""Methods of modules that run none of them."""


@dataclass(frozen=True, eq=False, slots=True)
class Discarded(Generic[Node, Place]):
    """The call that runs a model, whose graph is thrown away by ``detach()``.

    ``statements`` are those that can be put under ``no_grad`` for it, neighbours with the same among them. ``is_trained`` is
    whether the function around trains, so that it is a part of each step, and ``is_known`` whether it is known that autograd
    records the model.
    """

    run: Node
    statements: tuple[Place, ...]
    is_trained: bool
    is_known: bool


class DiscardedGraphs:
    """Finds runs of models with autograd on, of which nothing but detached values is read."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._recorded = semantics.of(RecordedRuns)
        self._training: dict[ast.AST | None, bool] = {}

    @cached_property
    def found(self) -> dict[ast.Call, Discarded[ast.expr, ast.stmt]]:
        """The calls that run the models, the outermost of several that one expression has."""
        runs = dict.fromkeys(run for run in self._cut if self._recorded.are(run))
        wrapped: dict[ast.AST, list[ast.Call]] = {}
        for run in runs:
            if (statement := self._wrapped(run)) is not None:
                wrapped.setdefault(statement, []).append(run)
        together: dict[ast.AST, tuple[ast.stmt, ...]] = {}
        for statements in self._neighbours(wrapped):
            together.update((run, tuple(statements)) for statement in statements for run in wrapped[statement])
        return {run: self._described(run, together.get(run, ())) for run in runs}

    def _described(self, run: ast.Call, statements: tuple[ast.stmt, ...]) -> Discarded[ast.expr, ast.stmt]:
        function = self._tree.function(run)
        if function not in self._training:
            body = function.body if isinstance(function, FUNCTIONS) else self._tree.module.body
            self._training[function] = self._semantics.of(GradientUses).used_in(body)
        return Discarded(run, statements, self._training[function], self._recorded.are_known(run))

    # --- what is detached --------------------------------------------------------------------------------------------

    @property
    def _cut(self) -> Iterator[ast.Call]:
        """The runs of models that nothing is read of but what is detached, less those within one another."""
        cut, around = self._semantics.of(CutValues), set[ast.AST]()
        for call in self._tree.of_type(ast.Call) if "detach" in self._semantics.facts.calls else ():
            if not self._is_run(call) or not cut.are_cut(call) or not around.isdisjoint(self._tree.ancestors(call)):
                continue
            if not any(isinstance(part, ast.NamedExpr) for part in ast.walk(call)):
                around.add(call)
                yield call

    def _is_run(self, call: ast.Call) -> bool:
        """Whether a call runs a module that has weights, as far as is known: no loss and no activation."""
        kind = self._semantics.kind(call.func)
        if kind.type is not Type.MODULE or last_name(call.func) in _NOT_RUN or kind.name in LOSS_MODULES:
            return False
        return not is_without_parameters(kind.name) and _COMPARING.search(last_name(call.func)) is None

    def _is_function(self, call: ast.Call) -> bool:
        """Whether a call is of a function of torch, and of no method of a value."""
        return (self._semantics.qualified_name(call.func) or "").startswith("torch.")

    # --- what is put under `no_grad` ---------------------------------------------------------------------------------

    def _wrapped(self, run: ast.Call) -> ast.stmt | None:
        """The statement of a run, where it gives a name what comes out, and nothing in it needs a graph."""
        statement = self._tree.statement(run)
        match statement:
            case ast.Assign(targets=[ast.Name()], value=value):
                is_free = self._semantics.of(CutValues).are_cut(value) or self._is_free_of_graphs(value, run)
                if is_free and not self._needs_graph(statement):
                    return statement
        return None

    def _needs_graph(self, statement: ast.stmt) -> bool:
        """Whether a statement cannot be put into a block, or what it runs needs gradients."""
        suspends = any(isinstance(part, SUSPENDING) for part in ast.walk(statement))
        return suspends or self._semantics.of(GradientUses).used_in([statement])

    def _is_free_of_graphs(self, whole: ast.expr, run: ast.Call) -> bool:
        """Whether an expression is taken of a run, detached, and joined with nothing that is known to have a graph, or may."""
        while whole is not run:
            match whole:
                case ast.Call(func=ast.Attribute(attr="detach")):
                    return True
                case ast.BinOp(left=left, right=right):
                    whole, others = (left, [right]) if self._tree.inside(run, left) else (right, [left])
                case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                    whole, others = inner, []
                case ast.Call(func=ast.Attribute(value=inner)) if not self._is_function(whole):
                    others, whole = given_to(whole), inner
                case ast.Call(args=[inner, *_]) if self._is_function(whole):
                    others, whole = given_to(whole)[1:], inner
                case _:
                    return False
            if not all(map(self._has_no_graph, others)):
                return False
        return False

    def _has_no_graph(self, other: ast.expr) -> bool:
        """Whether a value that something detached is joined with is a number, or a name of which no graph is known."""
        match other:
            case ast.Constant():
                return True
            case ast.Name() | ast.Attribute():
                kind = self._semantics.kind(other)
                return kind.grad not in (Grad.GRAPH, Grad.LEAF) and kind.type is not Type.MODULE
            case ast.BinOp(left=left, right=right):
                return self._has_no_graph(left) and self._has_no_graph(right)
            case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner, slice=ast.Constant()):
                return self._has_no_graph(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method), keywords=[]) if method in _CASTING:
                return self._has_no_graph(inner)
        return False

    def _neighbours(self, wrapped: Collection[ast.AST]) -> Iterator[list[ast.stmt]]:
        """The statements that are to go under ``no_grad``, those that follow one another together."""
        blocks = {id(block): block for block in (self._tree.block(each) for each in wrapped if isinstance(each, ast.stmt))}
        for block in blocks.values():
            for is_wrapped, group in groupby(block, wrapped.__contains__):
                statements = list(group) if is_wrapped else []
                yield from (statements[first : first + _LONGEST] for first in range(0, len(statements), _LONGEST))
