"""Questions about libcst nodes: what is done with the ``.data`` of tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TypeAlias

import libcst as cst

from torchlint.model.joint import Joint
from torchlint.semantics.autograd.no_grad_runs import NoGradRuns
from torchlint.semantics.code.tree import position
from torchlint.semantics.data.accesses import DataAccesses
from torchlint.semantics.data.changes import DataChange, DataChanges
from torchlint.semantics.data.harmless import HarmlessReads
from torchlint.semantics.data.masked_weights import MaskedWeights
from torchlint.semantics.data.meant_numbers import MeantNumber, MeantNumbers
from torchlint.semantics.data.rebinds import DataRebinds, Rebind
from torchlint.semantics.data.recomputed import RecomputedWeights
from torchlint.semantics.data.roles import Access, Role
from torchlint.semantics.gradients.passing_values import PassingValues
from torchlint.semantics.memory.arrays_for_form import ArraysForForm
from torchlint.semantics.parameters.averaged import AveragedWeights
from torchlint.semantics.parameters.kept_memory import KeptMemory
from torchlint.text.layout import can_be_indented, stands_alone

Runs: TypeAlias = Callable[[cst.CSTNode], list[cst.CSTNode]]
"""Gives the run of neighbouring statements around one that can share a block; empty where the layout does not allow a block."""


class DataQuestions:
    """What is done with the ``.data`` of tensors. Made by the `Model`, as ``model.data``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def access(self, node: cst.Attribute) -> Access[cst.BaseExpression] | None:
        """What is done with the ``x.data`` that a node is; ``None`` where ``x`` is no tensor, as far as the file shows."""
        return self._model.found(self._semantics.of(DataAccesses).all, node)

    def meant_number(self, data: cst.Attribute) -> MeantNumber[cst.BaseExpression] | None:
        """The number that ``loss.data``, ``loss.data.numpy()`` or the like is read for; ``None`` where a tensor is meant."""
        found: MeantNumber[cst.BaseExpression] | None = self._model.answered(self._semantics.of(MeantNumbers).of, data)
        return found

    def reads_within(self, node: cst.CSTNode) -> list[cst.Attribute]:
        """The ``.data`` of tensors that are read in the parts of an expression."""
        twin = self._model.twin(node)
        if not isinstance(twin, ast.expr):
            return []
        accesses = self._semantics.of(DataAccesses).all
        parts = [part for part in ast.walk(twin) if isinstance(part, ast.Attribute) and part in accesses]
        reads = (part for part in sorted(parts, key=position) if accesses[part].role is Role.READ)
        return [read for read in self._model.concretes(reads) if read is not node and isinstance(read, cst.Attribute)]

    def changes(self, node: cst.CSTNode) -> list[DataChange[cst.BaseExpression]]:
        """What a call, or the target of an assignment, changes through a ``.data``; empty if nothing is known to be changed."""
        return self._model.found(self._semantics.of(DataChanges).at, node) or []

    def is_passing(self, tensor: cst.BaseExpression) -> bool:
        """Whether a tensor is a function's own for one step, and nothing shows that it is a weight or has a graph."""
        return bool(self._model.answered(self._semantics.of(PassingValues).is_passing, tensor))

    def is_harmless_read(self, data: cst.Attribute) -> bool:
        """Whether an ``x.data`` is read where nothing that has a graph, or could get one, comes of it."""
        return bool(self._model.answered(self._semantics.of(HarmlessReads).is_harmless, data))

    def is_kept(self, data: cst.Attribute) -> bool:
        """Whether the memory of an ``x.data`` is stored, given back or handed on, or it is read in a ``forward``."""
        return bool(self._model.answered(self._semantics.of(KeptMemory).is_kept, data))

    def is_pooled(self, data: cst.Attribute) -> bool:
        """Whether an ``x.data``, or each of its items, goes into a list that an object keeps."""
        return bool(self._model.answered(self._semantics.of(KeptMemory).is_pooled, data))

    def has_no_graph(self, data: cst.Attribute) -> bool:
        """Whether an ``x.data`` is read of a position, of what was drawn, of a state dict, or in a step of an evaluation."""
        return bool(self._model.answered(self._semantics.of(HarmlessReads).has_no_graph, data))

    def is_array_for_form(self, data: cst.Attribute) -> bool:
        """Whether an array is made of an ``x.data`` that is only asked for its form, or that others are made like."""
        return bool(self._model.answered(self._semantics.of(ArraysForForm).are_made_of, data))

    def is_recomputed(self, tensor: cst.BaseExpression) -> bool:
        """Whether a tensor is a weight that `weight_norm` computes anew before each forward, as far as the file shows."""
        return bool(self._model.answered(self._semantics.of(RecomputedWeights).is_recomputed, tensor))

    def is_masked_weight(self, node: cst.BaseExpression) -> bool:
        """Whether the statement of a node multiplies a weight by a mask in the `forward` of its module."""
        return bool(self._model.answered(self._semantics.of(MaskedWeights).are_masked_by, node))

    def follows_another(self, node: cst.BaseExpression) -> bool:
        """Whether a change moves the weights of one network after those of another one, as a target network's or an average."""
        return bool(self._model.answered(self._semantics.of(AveragedWeights).follow, node))

    def is_of_beginning(self, node: cst.CSTNode) -> bool:
        """Whether the statement of a node sets, through a ``.data``, what a model starts with: before any forward."""
        return any(map(self._semantics.of(DataChanges).sets_beginning, self._twins_of([self._model.statement(node)])))

    def changes_within(self, statements: Iterable[cst.CSTNode]) -> list[DataChange[cst.BaseExpression]]:
        """The changes through the ``.data`` in some statements, and in the statements that are parts of these."""
        return self._model.translated(self._semantics.of(DataChanges).within(self._twins_of(statements)))

    def change_runs(self, *, safe: bool, is_left: Callable[[cst.BaseExpression], bool]) -> Runs:
        """The runs of statements that go under one ``no_grad`` to mend the changes that are ``safe`` to, or the others.

        ``is_left`` tells of a ``.data`` whether it is to stay as it is.
        """
        changes = self._semantics.of(DataChanges)
        return self._runs(changes.runs(safe=safe, is_left=self._asked(is_left), stands_alone=self._can_be_put_into_block))

    def rebind(self, data: cst.Attribute) -> Rebind[cst.BaseExpression] | None:
        """The assignment to a tensor's ``.data``; ``None`` for every other attribute."""
        return self._model.found(self._semantics.of(DataRebinds).all, data)

    def rebinds_within(self, statements: Iterable[cst.CSTNode]) -> list[Rebind[cst.BaseExpression]]:
        """The assignments to a ``.data`` among some statements, and among the statements that are parts of these."""
        return self._model.translated(self._semantics.of(DataRebinds).within(self._twins_of(statements)))

    def rebind_runs(self, *, is_left: Callable[[cst.BaseExpression], bool]) -> Runs:
        """The runs of assignments to a ``.data`` that can be copies under one ``no_grad``.

        ``is_left`` tells of a ``.data`` whether it is to stay as it is.
        """
        rebinds = self._semantics.of(DataRebinds)
        return self._runs(rebinds.runs(is_left=self._asked(is_left), stands_alone=self._can_be_put_into_block))

    def _runs(self, runs: NoGradRuns) -> Runs:
        def around(statement: cst.CSTNode) -> list[cst.CSTNode]:
            [twin] = self._twins_of([statement])
            return self._model.concretes(runs.around(twin))

        return around

    def _asked(self, question: Callable[[cst.BaseExpression], bool]) -> Callable[[ast.expr], bool]:
        return lambda node: question(self._model.concrete(node))

    def _can_be_put_into_block(self, statement: ast.stmt) -> bool:
        source = self._model.source
        return stands_alone(source, statement) and can_be_indented(source, statement)

    def _twins_of(self, statements: Iterable[cst.CSTNode]) -> list[ast.stmt]:
        twins = [self._model.twin(statement) for statement in statements]
        return [twin for twin in twins if isinstance(twin, ast.stmt)]
