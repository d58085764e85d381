"""Runs of models whose graph nobody uses: all that is read of what they give is detached on the spot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Generic, TypeVar

from torchlint.fact import Fact, unknown
from torchlint.semantics import Semantics, Type
from torchlint.semantics.autograd.gradient_uses import GradientUses
from torchlint.semantics.autograd.no_grad_runs import SUSPENDING
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.graphs.differentiating import DifferentiatingModels
from torchlint.semantics.graphs.frozen.results import FrozenResults
from torchlint.semantics.kinds.calls import is_without_parameters
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.modes.runs.cut_values import CutValues
from torchlint.semantics.modes.runs.recorded_models import RecordedModels
from torchlint.semantics.modes.runs.sure_runs import SureRuns
from torchlint.semantics.observers.unrecorded_calls import UnrecordedCalls
from torchlint.semantics.unrecorded.unneeded_graphs import UnneededGraphs

Node = TypeVar("Node")
Place = TypeVar("Place")

_COMPARING = re.compile(r"criterion|loss|metric|distance|similarity", re.IGNORECASE)
"""What is called that compares what a model gave: its own part of the graph is small."""
_NOT_RUN = frozenset({"to", "cuda", "cpu", "train", "eval", "half", "float", "double", "requires_grad_", "apply", "state_dict"})
"""Methods of modules that run none of them."""


@dataclass(frozen=True, eq=False, slots=True)
class Discarded(Generic[Node, Place]):
    """The call that runs a model, whose graph is thrown away by ``detach()``.

    ``statements`` are those that can be put under ``no_grad`` for it, neighbours with the same among them, and ``unneeded`` is
    whether that is certain to change nothing. ``is_trained`` is whether the function around trains, so that it is a part of
    each step, and ``is_known`` whether it is known that autograd records the model.
    """

    run: Node
    statements: tuple[Place, ...]
    unneeded: Fact
    is_trained: bool
    is_known: bool


@dataclass(frozen=True, slots=True)
class _Together:
    """Neighbouring statements that go into one block, and whether that changes nothing."""

    statements: tuple[ast.stmt, ...]
    unneeded: Fact


_APART = _Together((), unknown("there is no statement to change"))


class DiscardedGraphs:
    """Finds runs of models with autograd on, of which nothing but detached values is read."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, Discarded[ast.expr, ast.stmt]]:
        """The calls that run the models, the outermost of several that one expression has."""
        runs = dict.fromkeys(run for run in self._cut if self._is_recorded(run))
        wrapped = {run: statement for run in runs if (statement := self._wrapped(run)) is not None}
        together: dict[ast.AST, _Together] = {}
        for statements in self._neighbours(set(wrapped.values())):
            group = _Together(tuple(statements), self._semantics.of(UnneededGraphs).of_statements(statements))
            together.update(dict.fromkeys(statements, group))
        return {run: self._described(run, together.get(wrapped.get(run, run), _APART)) for run in runs}

    def _described(self, run: ast.Call, together: _Together) -> Discarded[ast.expr, ast.stmt]:
        function = self._tree.function(run)
        body = function.body if isinstance(function, FUNCTIONS) else self._tree.module.body
        is_trained = self._semantics.of(GradientUses).used_in(body)
        return Discarded(run, together.statements, together.unneeded, is_trained, self._is_known(run))

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

    # --- whether there is a graph ------------------------------------------------------------------------------------

    def _is_recorded(self, run: ast.Call) -> bool:
        """Whether nothing shows that autograd is off there, that the model is frozen, or that its forward needs a graph."""
        if self._semantics.no_grad.covers(run) or self._semantics.of(FrozenResults).is_graphless_run(run):
            return False
        if self._semantics.of(UnrecordedCalls).are_all_of(self._tree.function(run)):
            return False
        if self._semantics.of(DifferentiatingModels).may_be(run.func) or self._semantics.of(GradientUses).call_uses(run):
            return False
        sure = self._semantics.of(SureRuns)
        if sure.is_in_strange_context(run) or not self._names(run).isdisjoint(sure.frozen):
            return False
        return not self._semantics.of(RecordedModels).may_be_quiet(self._semantics.kind(run.func))

    def _is_known(self, run: ast.Call) -> bool:
        """Whether the model is recorded, as its class or the file's training says, and nothing may keep a part of its graph."""
        kind, models = self._semantics.kind(run.func), self._semantics.of(RecordedModels)
        if models.may_keep(kind) or self._semantics.words.speak_of("register_forward_hook"):
            return False
        return models.are_known(kind) or not self._names(run).isdisjoint(self._semantics.of(SureRuns).trained)

    def _names(self, run: ast.Call) -> set[str]:
        """What a model is called, and what it is a part of."""
        names, part = {last_name(run.func)}, run.func
        while isinstance(part, (ast.Attribute, ast.Subscript)):
            part = part.value
            names.add(last_name(part))
        return names - {"", "self", "module"}

    # --- what is put under `no_grad` ---------------------------------------------------------------------------------

    def _wrapped(self, run: ast.Call) -> ast.stmt | None:
        """The statement of a run, where it assigns what comes out and nothing else that may have a graph."""
        statement = self._tree.statement(run)
        if not isinstance(statement, ast.Assign) or any(isinstance(part, SUSPENDING) for part in ast.walk(statement)):
            return None
        return statement if self._is_all_of(statement.value, run) else None

    def _is_all_of(self, whole: ast.expr, run: ast.Call) -> bool:
        """Whether all that an expression computes is taken of a run, or joined with what is not known to have a graph."""
        while whole is not run:
            match whole:
                case ast.BinOp(left=left, right=right):
                    inner, other = (left, right) if self._tree.inside(run, left) else (right, left)
                    if self._semantics.kind(other).carries_graph:
                        return False
                    whole = inner
                case ast.UnaryOp(operand=inner):
                    whole = inner
                case ast.Call(func=ast.Attribute(value=inner)) if not self._is_function(whole):
                    whole = inner
                case ast.Call(args=[inner, *_]) if self._is_function(whole):
                    whole = inner
                case ast.Subscript(value=inner) | ast.Attribute(value=inner):
                    whole = inner
                case _:
                    return False
        return True

    def _neighbours(self, wrapped: set[ast.stmt]) -> Iterator[list[ast.stmt]]:
        """The statements that are to go under ``no_grad``, those that follow one another together."""
        blocks = {id(block): block for block in map(self._tree.block, wrapped)}
        for block in blocks.values():
            for is_wrapped, statements in groupby(block, wrapped.__contains__):
                if is_wrapped:
                    yield list(statements)
