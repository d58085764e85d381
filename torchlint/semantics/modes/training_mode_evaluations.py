"""Models that are evaluated in the wrong mode: as their training left them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Loop, last_name, position
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modes.modes import TRAIN, Mode, Modes, Run, Setting
from torchlint.semantics.modes.trained_models import TrainedModels
from torchlint.semantics.modules.mode_dependence import ModeDependence
from torchlint.semantics.purpose import Purpose, is_evaluation

Node = TypeVar("Node")
Place = TypeVar("Place")

_METRIC = re.compile(
    r"(^|_|\.)(val|valid|validation|test|tests|eval|evaluate|evaluation|acc|accuracy|metrics?|correct|hits?|score|scores|dice|iou|"
    r"auc|psnr|ssim|f1|bleu|wer|cer|rmse|mae|recall|precision|mrr|map|dev)(?=$|_|\.|\d)",
    re.IGNORECASE,
)
"""What names hold that come from evaluating a model."""
_FIGURE = re.compile(rf"{_METRIC.pattern}|loss|criterion|cross_entropy|nll|argmax|topk|^item$", re.IGNORECASE)
"""The same, or something that a training may have, too."""
CRITERION = re.compile(r"loss|crit|cost|objective|mse|bce|entropy", re.IGNORECASE)
"""What is called that is given a model's output, and is no model itself."""
_MAKING = re.compile(r"^(get|make|build|create|init|define)_?[^_]*(model|net|network|classifier)|^[A-Z]\w*(?<!Module)$")
"""What is called that makes a new model: `build_model`, a class."""


@dataclass(frozen=True, eq=False, slots=True)
class EvaluatedInTraining(Generic[Node, Place]):
    """A ``model`` that is evaluated in the mode that its training left it in.

    The evaluation is a ``statement``, or all of a ``function``; neither is given where it cannot be told apart. Where
    ``training_goes_on`` behind it, the training may rely on the mode that it finds.
    """

    model: Node
    statement: Place | None
    function: Place | None
    training_goes_on: bool


class TrainingModeEvaluations:
    """Finds the models of a file that are evaluated, without autograd, in training mode."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._modes = semantics.of(Modes)

    @cached_property
    def found(self) -> dict[ast.Call, EvaluatedInTraining[ast.expr, ast.stmt]]:
        """The calls that evaluate in training mode; of each model the first in each scope."""
        purpose = self._semantics.of(Purpose)
        found: dict[ast.Call, EvaluatedInTraining[ast.expr, ast.stmt]] = {}
        for scope, model in self._semantics.of(TrainedModels).all:
            if self._modes.is_managed(scope) or purpose.is_test_case(scope):
                continue
            for run in self._evaluated(scope, model):
                if run.call not in found and self._depends(scope, model, run):
                    found[run.call] = self._described(scope, model, run)
                    break
        return {} if found and purpose.is_reinforcement_learning else found

    def _evaluated(self, scope: FlowScope, model: Reference) -> list[Run]:
        """The runs of a model without autograd that may come right after training it, with no setting of its mode between."""
        modes, flow = self._modes, self._semantics.control_flow
        runs = [run for run in modes.runs(scope, model) if not modes.is_recorded(run)]
        if not runs:
            return []
        trained = [run for run in modes.all_runs(scope, model) if modes.trains(run)]
        settings = modes.settings(scope, model)
        starts = [start.node for start in self._left_in_training(scope, trained, settings)]
        between = [setting.node for setting in settings]
        reached = flow.ahead_of(scope, starts, between, up_to=[run.node for run in runs])
        last_trained = self._last_trained(trained)
        found = [run for run in runs if self._is_evaluation(run, last_trained) and reached.includes(run.node)]
        parts = {run: modes.settings_of_part(scope, model, run) for run in found}
        return [
            run
            for run, own in parts.items()
            if not own or flow.ahead_of(scope, starts, [*between, *own], up_to=[run.node]).includes(run.node)
        ]

    def _left_in_training(self, scope: FlowScope, trained: list[Run], settings: tuple[Setting, ...]) -> list[Run]:
        """The runs behind which a model is in training mode: it was not put into the other before."""
        modes = {setting.node: setting.modes for setting in reversed(settings)}
        training = [setting.node for setting in settings if setting.modes == TRAIN]
        others = [setting.node for setting in settings if setting.modes != TRAIN and not self._makes(setting)]
        in_another = self._semantics.control_flow.ahead_of(scope, others, training)
        return [
            run for run in trained if (modes[run.node] == TRAIN if run.node in modes else not in_another.includes(run.node))
        ]

    def _makes(self, setting: Setting) -> bool:
        """Whether a model is assigned what a call gives that is called as if it made one: new models are in training mode."""
        statement = self._semantics.tree.parent(setting.node)
        if not isinstance(statement, ast.Assign) or setting.node not in statement.targets:
            return False
        value = statement.value
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda"):
            value = value.func.value
        return isinstance(value, ast.Call) and _MAKING.search(last_name(value.func)) is not None

    def _last_trained(self, trained: list[Run]) -> dict[Loop | None, tuple[int, int]]:
        """Where what trains a model is run last: in each loop, and (None) in all."""
        tree = self._semantics.tree
        found: dict[Loop | None, tuple[int, int]] = {}
        for run in trained:
            start = position(run.node)
            around = {*tree.ancestors(run.node), *tree.ancestors(run.call)}
            for loop in (None, *(parent for parent in around if isinstance(parent, LOOPS))):
                found[loop] = max(start, found.get(loop, start))
        return found

    def _is_evaluation(self, run: Run, last_trained: dict[Loop | None, tuple[int, int]]) -> bool:
        """Whether a run is for figures or samples to look at, and nothing that the training works with."""
        if self._semantics.of(Backpropagated).call(run.call):
            return False
        tree = self._semantics.tree
        function = tree.function(run.call)
        if run.node is not run.call and isinstance(function, FUNCTIONS) and is_evaluation(function.name):
            return True
        loop = next(tree.loops(run.call), None)
        if loop in last_trained:
            if position(run.node) < last_trained[loop]:
                return False  # what comes before the training may be what it works with
            blocks = (parent for parent in tree.ancestors(run.call) if self._turns_autograd_off(parent))
            return _mentions(next(blocks, tree.statement(run.call)), _METRIC)
        return _mentions(loop or tree.statement(run.call), _FIGURE)

    def _depends(self, scope: FlowScope, model: Reference, run: Run) -> bool:
        """Whether the mode makes a difference: by the model's class; one of another file is taken to have layers that care."""
        depends = self._semantics.of(ModeDependence).of(run.model)
        if depends is None:
            kind = self._semantics.kind(run.model)
            if kind.name in LOSS_MODULES or CRITERION.search(last_name(run.model)):
                return False
            return self.is_evaluated_alone(run) or self._semantics.of(TrainedModels).is_put_into_training(scope, model)
        return depends

    def is_evaluated_alone(self, run: Run) -> bool:
        """Whether a run is part of an evaluation: in a function that is called like one, or a loop that has its figures."""
        tree = self._semantics.tree
        function = tree.function(run.call)
        if isinstance(function, FUNCTIONS) and run.node is not run.call and is_evaluation(function.name):
            return True
        around = tree.ancestors(run.call)
        blocks = [parent for parent in around if isinstance(parent, LOOPS) or self._turns_autograd_off(parent)]
        return any(_mentions(block, _METRIC) for block in blocks[:2])

    def _described(self, scope: FlowScope, model: Reference, run: Run) -> EvaluatedInTraining[ast.expr, ast.stmt]:
        statement = self._evaluation_statement(scope, model, run)
        function = self._semantics.tree.function(run.call) if statement is None else None
        within = function if isinstance(function, FUNCTIONS) else None
        return EvaluatedInTraining(run.model, statement, within, self._goes_on(scope, model, run))

    def _evaluation_statement(self, scope: FlowScope, model: Reference, run: Run) -> ast.stmt | None:
        """The ``with torch.no_grad():`` around a run, or the outermost loop around that in which nothing is trained."""
        found: ast.stmt | None = None
        trained = [other for other in self._modes.all_runs(scope, model) if self._modes.trains(other)]
        for parent in self._semantics.tree.ancestors(run.call):
            if isinstance(parent, FUNCTIONS):
                break
            if any(self._semantics.tree.inside(place, parent) for other in trained for place in (other.node, other.call)):
                break
            if self._turns_autograd_off(parent) or (found is not None and isinstance(parent, LOOPS)):
                assert isinstance(parent, ast.stmt)
                found = parent
        return found

    def _turns_autograd_off(self, node: ast.AST) -> bool:
        return isinstance(node, ast.With) and any(
            self._semantics.no_grad.grad_mode(item.context_expr) is False for item in node.items
        )

    def _goes_on(self, scope: FlowScope, model: Reference, run: Run) -> bool:
        """Whether training may follow in the mode that the evaluation leaves."""
        modes, flow = self._modes, self._semantics.control_flow
        setting = [found.node for found in modes.settings(scope, model) if Mode.TRAIN in found.modes]
        later = [found for found in modes.runs(scope, model) if modes.trains(found)]
        return any(flow.may_follow(run.node, found.node, setting) for found in later)


def _mentions(node: ast.AST, names: re.Pattern[str]) -> bool:
    return any(
        names.search(part.id if isinstance(part, ast.Name) else part.attr)
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute))
    )
