"""Functions that put a model into the mode that they are told: ``if training: model.train()``, and ``model.eval()`` if not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, dotted
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
        """Whether the function that calls a model is given, or has as an attribute, in which of the two modes it is to run."""
        switched = self._around(run)
        told = [call for call in switched.get(Mode.TRAIN, ()) if self._is_told(call, run)]
        return bool(switched.get(Mode.EVAL)) and any(self._may_reach(call, run) for call in told)

    def is_put_into_training(self, run: Run, within: ast.stmt) -> bool:
        """Whether a statement or function around a run of a model may have put that into training mode before."""
        return bool(self._training(run, within))

    def switch(self, run: Run, within: ast.stmt) -> ast.Call | None:
        """The one call that does, where it does in any case, and sets the mode of nothing else."""
        match self._training(run, within):
            case [ast.Call(args=[], keywords=[]) as call] if not any(self._conditions(call)):
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

    def _conditions(self, call: ast.Call) -> Iterator[ast.If | ast.IfExp | ast.Match]:
        """What decides in a function whether a call in it is made."""
        function = self._semantics.tree.function(call)
        for parent in self._semantics.tree.ancestors(call):
            if parent is function:
                return
            if isinstance(parent, (ast.If, ast.IfExp, ast.Match)):
                yield parent

    def _is_told(self, call: ast.Call, run: Run) -> bool:
        """Whether an argument of the function, other than the model, decides about a call, or an attribute of one does."""
        model = dotted(run.model) or ""
        for condition in self._conditions(call):
            deciding = condition.subject if isinstance(condition, ast.Match) else condition.test
            for part in ast.walk(deciding):
                name = dotted(part) if isinstance(part, (ast.Name, ast.Attribute)) else None
                if name is not None and not f"{model}.".startswith(f"{name}.") and self._is_given(part):
                    return True
        return False

    def _is_given(self, part: ast.AST) -> bool:
        while isinstance(part, ast.Attribute):
            part = part.value
        if not isinstance(part, ast.Name):
            return False
        return any(binding.form is Form.PARAMETER for binding in self._semantics.bindings.reaching(part))

    def _may_reach(self, call: ast.Call, run: Run) -> bool:
        return self._semantics.control_flow.may_follow(call, run.call, ())
