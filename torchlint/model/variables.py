"""Questions about libcst nodes: what is left of torch 0.3's Variable."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.model.joint import Joint
from torchlint.semantics.variables.volatile import VolatileMark, Volatiles
from torchlint.text.layout import can_be_indented, stands_alone


class VariablesQuestions:
    """What is left of torch 0.3's Variable. Made by the `Model`, as ``model.variables``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def volatile(self, node: cst.Arg | cst.Assign) -> VolatileMark[cst.BaseExpression] | None:
        """What an argument or an assignment sets ``volatile`` to; ``None`` where it sets something else."""
        return self._model.found(self._semantics.of(Volatiles).marks, node)

    def computing(self, statement: cst.CSTNode) -> list[list[cst.CSTNode]]:
        """The neighbouring statements that compute with what ``statement`` marks as volatile, and that autograd can be off for.

        Left out are those that train something, and those that share their lines with other code.
        """
        twin, source = self._model.twin(statement), self._model.source
        runs = self._semantics.of(Volatiles).computing(twin) if isinstance(twin, ast.stmt) else []
        roomy = [run for run in runs if all(stands_alone(source, each) and can_be_indented(source, each) for each in run)]
        return [self._model.concretes(run) for run in roomy]
