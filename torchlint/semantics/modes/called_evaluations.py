"""Functions that evaluate the models that other files give them, in the mode that a function beside them has left these in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.gradient_uses import GradientUses
from torchlint.semantics.code.tree import Function
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modes.modes import Mode, Modes, Run
from torchlint.semantics.modes.trained_models import TrainedModels
from torchlint.semantics.purpose import Purpose

_EVALUATION = re.compile(r"(^|_)(eval\w*|val|valid\w*|test|tests|testing|acc|accuracy|metrics?|score)(_|$)", re.IGNORECASE)
"""What functions are called that evaluate for figures."""
_ON_PURPOSE = re.compile(r"dropout|monte_?carlo|uncertaint|bn|calibrat|swa|train", re.IGNORECASE)
"""What functions are called that run a model in training mode on purpose."""


class CalledEvaluations:
    """Finds the runs in such functions, where the files that call them put no model into evaluation mode."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._modes = semantics.of(Modes)

    @property
    def left_unrecorded(self) -> list[tuple[Function, Reference, Run]]:
        """Those with autograd off."""
        return [found for found in self.left_in_training if not self._modes.is_recorded(found[-1])]

    @property
    def left_recorded(self) -> list[tuple[Function, Reference, Run]]:
        """Those with autograd on, here and in the files that call."""
        callers = self._semantics.elsewhere.callers
        found = [each for each in self.left_in_training if self._modes.is_recorded(each[-1])]
        return [each for each in found if callers is not None and callers.are_recorded(each[0].name)]

    @cached_property
    def left_in_training(self) -> list[tuple[Function, Reference, Run]]:
        """The runs of a parameter by a function that sets no mode, with the function and what it calls the model there.

        A function beside it puts its parameter of that name into training mode, and trains it; some file calls them both.
        """
        if self._semantics.elsewhere.callers is None or not self._training:
            return []
        return [found for function in self._evaluating for found in self._runs(function)]

    @property
    def _evaluating(self) -> Iterator[ast.FunctionDef]:
        """The functions of the top level that are called like evaluations, and that this file itself does not call."""
        purpose, gradients = self._semantics.of(Purpose), self._semantics.of(GradientUses)
        for function in self._semantics.tree.module.body:
            if not isinstance(function, ast.FunctionDef) or not _EVALUATION.search(function.name):
                continue
            if _ON_PURPOSE.search(function.name) or purpose.is_test_case(function) or gradients.used_in(function.body):
                continue
            if not self._semantics.facts.call_sites(function):
                yield function

    def _runs(self, function: ast.FunctionDef) -> Iterator[tuple[Function, Reference, Run]]:
        callers = self._semantics.elsewhere.callers
        for name in [each.arg for each in (*function.args.posonlyargs, *function.args.args)]:
            model = Reference(function, (name,))
            trained_by = [each for each, parameter in self._training if parameter == name and each is not function]
            if not trained_by or self._modes.settings(function, model):
                continue
            runs = self._modes.runs(function, model)
            if runs and callers is not None and any(callers.are_in_training(function.name, each.name) for each in trained_by):
                looped = (run for run in runs if run.node is run.call and any(self._semantics.tree.loops(run.call)))
                yield from ((function, model, run) for run in looped)

    @cached_property
    def _training(self) -> list[tuple[Function, str]]:
        """The functions of the top level that put a parameter into training mode and train it, with its name."""
        return [
            (scope, model.path[0])
            for scope, model in self._semantics.of(TrainedModels).all
            if isinstance(scope, ast.FunctionDef) and self._semantics.tree.parent(scope) is self._semantics.tree.module
            if model.root is scope and len(model.path) == 1
            if any(Mode.TRAIN in each.modes and each.always for each in self._modes.settings(scope, model))
            if any(map(self._modes.trains, self._modes.runs(scope, model) or self._modes.all_runs(scope, model)))
        ]
