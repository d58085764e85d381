"""Models that are in the wrong mode: evaluated as their training left them, or trained as their evaluation left them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Function, Loop, last_name, position
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modes.mentions import Mentions
from torchlint.semantics.modes.modes import EVAL, TRAIN, Mode, Modes, Run, Setting
from torchlint.semantics.modes.switches import Switches
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
_CRITERION = re.compile(r"loss|crit|cost|objective|mse|bce|entropy", re.IGNORECASE)
"""What is called that is given a model's output, and is no model itself."""
_MAKING = re.compile(r"^(get|make|build|create|init|define)_?[^_]*(model|net|network|classifier)|^[A-Z]\w*(?<!Module)$")
"""What is called that makes a new model: `build_model`, a class."""
_MOST_PLACES = 100
"""So many places of one scope that set a model's mode, or train it, are compared; code that has more is generated."""


# --- evaluated in training mode --------------------------------------------------------------------------------------


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
            if kind.name in LOSS_MODULES or _CRITERION.search(last_name(run.model)):
                return False
            return self._is_evaluated_alone(run) or self._semantics.of(TrainedModels).is_put_into_training(scope, model)
        return depends

    def _is_evaluated_alone(self, run: Run) -> bool:
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


# --- trained in evaluation mode --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class TrainedInEvaluation(Generic[Node, Place]):
    """A model, called ``name`` there, that ``training`` trains in the evaluation mode that the round before left it in.

    ``statement`` is what holds the training in the body of the loop whose rounds these are.
    """

    name: str
    training: Node
    statement: Place


class EvaluationModeTrainings:
    """Finds the models of a file that are put into evaluation mode in a loop, and are trained in the next round."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._modes = semantics.of(Modes)

    @cached_property
    def found(self) -> dict[ast.AST, TrainedInEvaluation[ast.expr, ast.stmt]]:
        """The calls of ``eval`` whose mode lasts until a training, each with the first one."""
        purpose, dependence = self._semantics.of(Purpose), self._semantics.of(ModeDependence)
        found: dict[ast.AST, TrainedInEvaluation[ast.expr, ast.stmt]] = {}
        for scope, model in self._models():
            if self._modes.is_managed(scope) or purpose.is_test_case(scope):
                continue
            for setting, run, loop in self._trained(scope, model):
                switch = setting.switch or setting.node
                if switch not in found and dependence.of(run.model) is not False:
                    statement = self._statement_in(loop, run.node)
                    found[switch] = TrainedInEvaluation(".".join(model.path), run.node.func, statement)
        return found

    def _models(self) -> Iterator[tuple[FlowScope, Reference]]:
        """The models that the file trains: by its optimizers and calls of ``train``, or as the only model of a function."""
        evaluating = [(switch, models) for switch, models, mode in self._semantics.of(Switches).all if mode is Mode.EVAL]
        if not evaluating:
            return
        trained = self._semantics.of(TrainedModels)
        known = set(trained.all)
        yield from trained.all
        for switch, models in evaluating:
            for model in models or ():
                for scope, found in trained.scopes_of(model, self._semantics.control_flow.scope(switch)):
                    if (scope, found) not in known and isinstance(scope, FUNCTIONS) and self._is_only_model(scope, found):
                        known.add((scope, found))
                        yield scope, found

    def _is_only_model(self, function: Function, model: Reference) -> bool:
        """Whether a function trains no other model, of which this one might be a frozen part; it is given the optimizer."""
        references = self._modes.references
        calls = self._semantics.of(Mentions).calls_in(function)
        if not any(last_name(call.func) == "step" for call in calls):
            return False
        for call in calls:
            called = references.of(call.func) if self._semantics.of(Backpropagated).call(call) else None
            if called is not None and called.root is function and not model.holds(called):
                given = isinstance(call.func, ast.Name) or self._semantics.facts.self_class(_owner(call.func)) is not None
                if given and not _CRITERION.search(last_name(call.func)):
                    return False
        return True

    def _trained(self, scope: FlowScope, model: Reference) -> Iterator[tuple[Setting, Run, Loop]]:
        """The places that put a model into evaluation mode, what then trains it nevertheless, and the loop that has both."""
        modes, flow = self._modes, self._semantics.control_flow
        settings = modes.settings(scope, model)
        evaluating = [setting for setting in settings if setting.modes == EVAL and setting.always]
        trained = [run for run in modes.runs(scope, model) if modes.trains(run)] if evaluating else []
        leaving = tuple(setting.node for setting in settings if setting.modes != EVAL)
        evaluating, trained = evaluating[:_MOST_PLACES], trained[:_MOST_PLACES]
        for run in trained:
            looped = [(setting, self._common_loop(setting.node, run.node)) for setting in evaluating]
            if any(loop is None and flow.may_follow(setting.node, run.node, leaving) for setting, loop in looped):
                continue  # it is in evaluation mode from the start: that is meant
            for setting, loop in looped:
                if loop is not None and flow.may_follow(setting.node, run.node, leaving):
                    if self._evaluates(scope, model, setting, trained):
                        yield setting, run, loop

    def _common_loop(self, one: ast.AST, other: ast.AST) -> Loop | None:
        """The innermost loop that two nodes stand in."""
        return next((loop for loop in self._semantics.tree.loops(one) if self._semantics.tree.inside(other, loop)), None)

    def _evaluates(self, scope: FlowScope, model: Reference, setting: Setting, trained: list[Run]) -> bool:
        """Whether the model is first run to be evaluated, and not trained, once its mode is set."""
        modes, flow = self._modes, self._semantics.control_flow
        others = [run for run in modes.all_runs(scope, model) if not modes.trains(run)]
        if any(run.node is setting.node for run in others):
            return True  # a function sets the mode and evaluates
        obstacles: list[ast.AST] = [self._entered(run.node, setting.node) for run in trained]
        obstacles += [found.node for found in modes.settings(scope, model) if found.node is not setting.node]
        return any(flow.may_follow(setting.node, run.node, obstacles) for run in others if run.node not in obstacles)

    def _entered(self, node: ast.AST, outside: ast.AST) -> ast.AST:
        """Where the loops around ``node`` begin that ``outside`` does not stand in: they are taken to have a first round."""
        loops = [loop for loop in self._semantics.tree.loops(node) if not self._semantics.tree.inside(outside, loop)]
        if not loops:
            return node
        return loops[-1].test if isinstance(loops[-1], ast.While) else loops[-1].iter

    def _statement_in(self, loop: Loop, node: ast.AST) -> ast.stmt:
        """The statement of a loop's own body that ``node`` stands in."""
        statement = self._semantics.tree.statement(node)
        for parent in self._semantics.tree.ancestors(statement):
            if parent is loop:
                break
            if isinstance(parent, ast.stmt):
                statement = parent
        return statement


def _owner(function: ast.expr) -> ast.expr:
    return function.value if isinstance(function, ast.Attribute) else function
