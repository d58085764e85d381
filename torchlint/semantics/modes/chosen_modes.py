"""Functions that put a model into the mode that they are told: ``if training: model.train()``, and ``model.eval()`` if not."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.memory.references import Reference, References
from torchlint.semantics.modes.modes import Mode, Run
from torchlint.semantics.modes.switches import Switches


class ChosenModes:
    """Tells of runs of models whether the function around sets the mode, and whether it has the choice."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._references = semantics.of(References)
        self._switched: dict[tuple[Function, Reference], dict[Mode, list[ast.Call]]] = {}

    def is_chosen(self, run: Run) -> bool:
        """Whether a condition of the function that calls a model decides in which of the two modes it runs."""
        switched = self._around(run)
        conditional = [call for call in switched.get(Mode.TRAIN, ()) if self._is_conditional(call)]
        return bool(switched.get(Mode.EVAL)) and any(self._may_reach(call, run) for call in conditional)

    def is_put_into_training(self, run: Run, within: ast.stmt) -> bool:
        """Whether a statement or function around a run of a model may have put that into training mode before."""
        return bool(self._training(run, within))

    def switch(self, run: Run, within: ast.stmt) -> ast.Call | None:
        """The one call that does, where it does in any case, and sets the mode of nothing else."""
        match self._training(run, within):
            case [ast.Call(args=[], keywords=[]) as call] if not self._is_conditional(call):
                models = next(models for each, models, _ in self._semantics.of(Switches).all if each is call)
                is_statement = isinstance(self._semantics.tree.parent(call), ast.Expr)
                return call if is_statement and models is not None and len(models) == 1 else None
        return None

    def _training(self, run: Run, within: ast.stmt) -> list[ast.Call]:
        calls = (call for call in self._around(run).get(Mode.TRAIN, ()) if self._semantics.tree.inside(call, within))
        return [call for call in calls if self._may_reach(call, run)]

    def _around(self, run: Run) -> dict[Mode, list[ast.Call]]:
        """The calls that set the mode of the model that is run, in the function around, by the mode."""
        function, model = self._semantics.tree.function(run.call), self._references.of(run.model)
        if not isinstance(function, FUNCTIONS) or model is None:
            return {}
        key = function, model
        if key not in self._switched:
            found: dict[Mode, list[ast.Call]] = {}
            for call, models, mode in self._semantics.of(Switches).all:
                if self._semantics.tree.function(call) is function and models is not None:
                    if any(each == model or each.holds(model) for each in models):
                        found.setdefault(mode, []).append(call)
            self._switched[key] = found
        return self._switched[key]

    def _is_conditional(self, call: ast.Call) -> bool:
        function = self._semantics.tree.function(call)
        for parent in self._semantics.tree.ancestors(call):
            if parent is function:
                return False
            if isinstance(parent, (ast.If, ast.IfExp, ast.Match)):
                return True
        return False

    def _may_reach(self, call: ast.Call, run: Run) -> bool:
        return self._semantics.control_flow.may_follow(call, run.call, ())
