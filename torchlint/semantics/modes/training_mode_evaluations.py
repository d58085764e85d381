"""Models that are evaluated in the wrong mode: as their training left them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.autograd.gradient_uses import GradientUses
from torchlint.semantics.autograd.no_grad_runs import SUSPENDING
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Function, Loop, given_to, last_name, position, walk_body
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modes.called_evaluations import CalledEvaluations
from torchlint.semantics.modes.chosen_modes import ChosenModes
from torchlint.semantics.modes.modes import TRAIN, Mode, Modes, Run, Setting
from torchlint.semantics.modes.ruled_gradients import RuledGradients
from torchlint.semantics.modes.runs.evaluating_runs import FIGURE, SURE, EvaluatingRuns, mentions
from torchlint.semantics.modes.switches import Switches
from torchlint.semantics.modes.trained_models import CRITERION, NewModels, TrainedModels
from torchlint.semantics.modules.mode_dependence import ModeDependence
from torchlint.semantics.modules.modes_elsewhere import ModesElsewhere
from torchlint.semantics.modules.own_modes import OwnModes
from torchlint.semantics.purpose import Purpose, is_evaluation

Node = TypeVar("Node")
Place = TypeVar("Place")

_TABLE = re.compile(r"(^|_)embed(ding)?s?$", re.IGNORECASE)
"""What tables of vectors are called, which have no modes."""
_CRITIC = re.compile(r"^(d|net_?d|disc\w*|critic\w*)(_|\d|$)", re.IGNORECASE)
"""What models are called that judge what others make: they are asked in the mode in which they teach those."""
_ON_PURPOSE = re.compile(r"mc_?dropout|monte_?carlo|uncertaint|update_bn|bn_update|calibrat|recalib|swa_", re.IGNORECASE)
"""Words of code that runs a model in training mode on purpose."""


@dataclass(frozen=True, eq=False, slots=True)
class EvaluatedInTraining(Generic[Node, Place]):
    """A ``model`` that is evaluated in the mode that its training left it in.

    The evaluation is a ``statement``, or all of a ``function``; neither is given where it cannot be told apart. Where
    ``training_goes_on`` behind it, the training may rely on the mode that it finds. It ``matters`` which mode that is by the
    model's class, or for whoever sets that of the model elsewhere in the file. The mode ``is_certain`` where nothing in the
    file might set another one by another name, or in another method.
    """

    model: Node
    statement: Place | None
    function: Place | None
    training_goes_on: bool
    matters: bool = True
    is_certain: bool = True
    switch: Node | None = None
    """The call in the function that puts the model into training mode, and alone does, whatever happens."""


class TrainingModeEvaluations:
    """Finds the models of a file that are evaluated in training mode."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._modes = semantics.of(Modes)
        self._runs = semantics.of(EvaluatingRuns)
        self._chosen = semantics.of(ChosenModes)

    @cached_property
    def found(self) -> dict[ast.Call, EvaluatedInTraining[ast.expr, ast.stmt]]:
        """The calls that evaluate in training mode, without autograd; of each model the first in each scope."""
        found: dict[ast.Call, EvaluatedInTraining[ast.expr, ast.stmt]] = {}
        for scope, model in self._scopes():
            for run in self._evaluated(scope, model, recorded=False):
                if self._place(run) not in found and self._depends(scope, model, run):
                    found[self._place(run)] = self._unrecorded_at(scope, model, run)
                    break
        for scope, model, run in self._set_wrongly():
            is_found = not self._modes.is_recorded(run) and not self._chosen.is_chosen(run)
            if is_found and self._semantics.of(OwnModes).are_set(run.model):
                found.setdefault(run.call, self._unrecorded_at(scope, model, run))
        others = self._semantics.of(CalledEvaluations).left_unrecorded
        found |= {each[-1].call: self._unrecorded_at(*each) for each in others if self._depends(*each)}
        return {} if found and self._semantics.of(Purpose).is_reinforcement_learning else found

    @cached_property
    def recorded(self) -> dict[ast.Call, EvaluatedInTraining[ast.expr, ast.stmt]]:
        """The calls that evaluate in training mode and with autograd on; of each evaluation, the first."""
        found: dict[ast.Call, EvaluatedInTraining[ast.expr, ast.stmt]] = {}
        places: set[ast.AST] = set()
        for scope, model in self._scopes():
            for run in self._evaluated(scope, model, recorded=True):
                if self._place(run) not in found and self._is_sure(run) and self._depends(scope, model, run):
                    described = replace(self._recorded_at(scope, model, run), matters=self._matters(run))
                    place = described.function or described.statement or self._place(run)
                    if place not in places:
                        places.add(place)
                        found[self._place(run)] = described
        called = [each for each in self._semantics.of(CalledEvaluations).left_recorded if self._is_sure(each[-1])]
        found |= {each[-1].call: self._recorded_at(*each) for each in called if self._depends(*each)}
        return {} if found and self._semantics.of(Purpose).is_reinforcement_learning else found

    def _matters(self, run: Run) -> bool:
        """Whether the mode is known to make a difference, or the file sets that of something of the model's name."""
        if self._semantics.of(ModeDependence).of(run.model):
            return True
        owners = (call.func.value for call, _, _ in self._semantics.of(Switches).all if isinstance(call.func, ast.Attribute))
        return any(last_name(owner) == last_name(run.model) for owner in owners)

    def _set_wrongly(self) -> Iterator[tuple[FlowScope, Reference, Run]]:
        """The runs in functions that evaluate, and nothing else, behind a call that puts the model into training mode there."""
        for switch, models, mode in self._semantics.of(Switches).all:
            scope = self._semantics.control_flow.scope(switch)
            if mode is not Mode.TRAIN or not isinstance(scope, FUNCTIONS) or not SURE.search(scope.name):
                continue
            is_plain = not self._modes.is_managed(scope) and not self._semantics.of(Purpose).is_test_case(scope)
            if not is_plain or mentions(scope, _ON_PURPOSE) or _ON_PURPOSE.search(scope.name):
                continue
            if self._semantics.of(GradientUses).used_in(scope.body):
                continue
            for model in models or ():
                others = [each.node for each in self._modes.settings(scope, model) if each.switch is not switch]
                runs = [run for run in self._modes.runs(scope, model) if run.node is run.call]
                ahead = self._semantics.control_flow.ahead_of(scope, [switch], others)
                loops = ((run, next(self._semantics.tree.loops(run.node), None)) for run in runs if ahead.includes(run.node))
                yield from ((scope, model, run) for run, loop in loops if loop is not None and mentions(loop, FIGURE))

    def _scopes(self) -> Iterator[tuple[FlowScope, Reference]]:
        """The models that are trained, in the scopes that are no test and set the modes themselves."""
        purpose = self._semantics.of(Purpose)
        for scope, model in self._semantics.of(TrainedModels).all:
            if not self._modes.is_managed(scope) and not purpose.is_test_case(scope):
                yield scope, model

    def _evaluated(self, scope: FlowScope, model: Reference, *, recorded: bool) -> list[Run]:
        """The runs of a model that may come right after training it, with no setting of its mode between: those with
        autograd on, or those without it.
        """
        modes, flow = self._modes, self._semantics.control_flow
        runs = [run for run in modes.runs(scope, model) if modes.is_recorded(run) is recorded]
        if not runs:
            return []
        trained = [run for run in modes.all_runs(scope, model) if modes.trains(run)]
        settings = modes.settings(scope, model)
        if self._may_be_pretrained(model) and all(setting.modes != TRAIN for setting in settings):
            return []
        starts = [start.node for start in self._left_in_training(scope, trained, settings)]
        between = [setting.node for setting in settings]
        reached = flow.ahead_of(scope, starts, between, up_to=[run.node for run in runs])
        last_trained = self._last_trained(trained)
        found = [run for run in runs if self._runs.is_evaluation_behind(run, last_trained) and reached.includes(run.node)]
        found = self._of_what_is_trained(found, trained)
        parts = {run: modes.settings_of_part(scope, model, run) for run in found}
        return [
            run for run, own in parts.items() if not own or self._is_part_left(scope, run, trained, settings, [*between, *own])
        ]

    def _is_part_left(
        self, scope: FlowScope, run: Run, trained: list[Run], settings: tuple[Setting, ...], between: list[ast.AST]
    ) -> bool:
        """Whether a part of a model, whose own mode is set, may still be in training mode as what trains it left it."""
        part = self._modes.references.of(run.model)
        if part is None:
            return True
        models = [(each, self._modes.references.of(each.model)) for each in trained]
        of_part = [each for each, model in models if model is None or model == part or model.holds(part) or part.holds(model)]
        own = tuple({each.node: each for each in (*settings, *self._modes.settings(scope, part)) if each.always}.values())
        starts = [each.node for each in self._left_in_training(scope, of_part, own)]
        return self._semantics.control_flow.ahead_of(scope, starts, between, up_to=[run.node]).includes(run.node)

    def _may_be_pretrained(self, model: Reference) -> bool:
        """Whether a function is given a model of the library transformers, whose ``from_pretrained`` gives it in evaluation
        mode: https://huggingface.co/docs/transformers/main_classes/model#transformers.PreTrainedModel.from_pretrained
        """
        if not model.is_given or not isinstance(model.root, FUNCTIONS) or len(model.path) > 1:
            return False
        given = model.root.args
        parameters = (*given.posonlyargs, *given.args, *given.kwonlyargs)
        notes = [each.annotation for each in parameters if each.arg == model.path[0] and each.annotation is not None]
        return any((self._semantics.qualified_name(note) or "").startswith("transformers.") for note in notes)

    def _of_what_is_trained(self, runs: list[Run], trained: list[Run]) -> list[Run]:
        """The runs without those of another model than what is trained, where an object that is no module has several."""
        owned = {self._attribute(run) for run in trained}
        if not owned or None in owned:
            return runs
        return [run for run in runs if (attribute := self._attribute(run)) is None or attribute in owned]

    def _attribute(self, run: Run) -> str | None:
        """The attribute of an object that is no module through which a method of it runs a model."""
        model = self._modes.references.of(run.model)
        root = run.model
        while isinstance(root, ast.Attribute):
            root = root.value
        owner = self._semantics.facts.self_class(root) if isinstance(root, ast.Name) else None
        if model is None or len(model.path) < 2 or owner is None or self._semantics.facts.is_module(owner):
            return None
        return model.path[1]

    def _is_sure(self, run: Run) -> bool:
        """Whether a run with autograd on is for figures alone: nothing around it needs gradients or may rule them."""
        gradients, tree = self._semantics.of(GradientUses), self._semantics.tree
        ruled = self._semantics.of(RuledGradients)
        if ruled.are_ruled_at(run.node) or ruled.are_ruled_at(run.call):
            return False
        place = self._runs.sure_place(run)
        if place is None or gradients.used_in(place.body if isinstance(place, FUNCTIONS) else [place]):
            return False
        around = (run.call, *tree.ancestors(run.call))
        names = [parent.name for parent in around if isinstance(parent, (*FUNCTIONS, ast.ClassDef))]
        return not any(map(_ON_PURPOSE.search, names)) and not mentions(place, _ON_PURPOSE)

    def _recorded_at(self, scope: FlowScope, model: Reference, run: Run) -> EvaluatedInTraining[ast.expr, ast.stmt]:
        """An evaluation with autograd on: all of a function that does nothing else, or the outermost loop around."""
        goes_on = self._goes_on(scope, model, run)
        place = self._runs.sure_place(run)
        if place is not None and self._chosen.is_put_into_training(run, place):
            return EvaluatedInTraining(self._model(run, model), None, None, goes_on)
        if isinstance(place, FUNCTIONS):
            suspends = any(isinstance(part, SUSPENDING) for part in walk_body(place.body))
            fitting = isinstance(place, ast.FunctionDef) and not suspends
            return EvaluatedInTraining(self._model(run, model), None, place if fitting else None, goes_on)
        return EvaluatedInTraining(self._model(run, model), place, None, goes_on)

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
        return self._semantics.of(NewModels).are_made_by(statement.value)

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

    def _depends(self, scope: FlowScope, model: Reference, run: Run) -> bool:
        """Whether the mode makes a difference: by the model's class; one of another file is taken to have layers that care. Nor
        is it a mistake where the function that evaluates is told which mode it is to be.
        """
        if self._chosen.is_chosen(run):
            return False
        if _CRITIC.search(last_name(run.model)) or not self._semantics.of(OwnModes).are_set(run.model):
            return False
        depends = self._semantics.of(ModeDependence).of(run.model)
        if depends is None:
            kind = self._semantics.kind(run.model)
            name = last_name(run.model)
            if kind.name in LOSS_MODULES or CRITERION.search(name) or _TABLE.search(name):
                return False
            return self._runs.is_evaluated_alone(run) or self._semantics.of(TrainedModels).is_put_into_training(scope, model)
        return depends

    def _unrecorded_at(self, scope: FlowScope, model: Reference, run: Run) -> EvaluatedInTraining[ast.expr, ast.stmt]:
        """An evaluation without autograd, and whether the model's class, or one that it may be of, has layers that care."""
        classes, elsewhere = self._semantics.kind(run.model).classes_elsewhere, self._semantics.of(ModesElsewhere)
        matters = self._semantics.of(ModeDependence).of(run.model) is True or any(map(elsewhere.matters, classes))
        is_certain = not self._is_attribute(run, model) or all(
            mode is Mode.TRAIN for _, _, mode in self._semantics.of(Switches).all
        )
        return replace(self._described(scope, model, run), matters=matters, is_certain=is_certain)

    def _is_attribute(self, run: Run, model: Reference) -> bool:
        """Whether a model is an attribute of an object: other methods may set its mode, in an order that only callers know."""
        return isinstance(run.model, ast.Attribute) or len(model.path) > 1

    def _described(self, scope: FlowScope, model: Reference, run: Run) -> EvaluatedInTraining[ast.expr, ast.stmt]:
        """An evaluation without autograd: a statement, or all of a function that is there for nothing else."""
        statement = self._evaluation_statement(scope, model, run)
        function = self._semantics.tree.function(run.call) if statement is None and self._place(run) is run.call else None
        is_alone = isinstance(function, FUNCTIONS) and self._semantics.of(Purpose).is_called_at_most_once(function)
        within = function if isinstance(function, FUNCTIONS) and (is_alone or SURE.search(function.name)) else None
        around = self._semantics.tree.function(run.call)
        named = around if isinstance(around, FUNCTIONS) and self._only_evaluates(around) else None
        place = named or statement or within
        if place is not None and self._chosen.is_put_into_training(run, place):
            switch = self._chosen.switch(run, place) if named is not None else None
            function = named if switch is not None else None
            return EvaluatedInTraining(self._model(run, model), None, function, training_goes_on=True, switch=switch)
        return EvaluatedInTraining(self._model(run, model), statement, within, self._goes_on(scope, model, run))

    def _only_evaluates(self, function: Function) -> bool:
        """Whether a function is called like one that evaluates, and trains nothing."""
        return SURE.search(function.name) is not None and not self._semantics.of(GradientUses).used_in(function.body)

    def _place(self, run: Run) -> ast.Call:
        """The call that evaluates: of the model, or of the function around that trains as well, for other calls, or that has
        one run the model which is not called like an evaluation.
        """
        if run.node is run.call:
            return run.call
        functions = self._runs.functions(run)
        is_further = len(functions) > 1 and not is_evaluation(functions[0].name)
        return run.node if is_further or self._semantics.of(Backpropagated).call(run.call) else run.call

    def _model(self, run: Run, model: Reference) -> ast.expr:
        """The model as it is called at the place of a run."""
        if self._place(run) is run.call:
            return run.model
        given = given_to(run.node)
        return next((each for each in given if self._modes.references.of(each) == model), run.model)

    def _evaluation_statement(self, scope: FlowScope, model: Reference, run: Run) -> ast.stmt | None:
        """The ``with torch.no_grad():`` around a run, or the outermost loop around that in which nothing is trained."""
        found: ast.stmt | None = None
        trained = [other for other in self._modes.all_runs(scope, model) if self._modes.trains(other)]
        for parent in self._semantics.tree.ancestors(self._place(run)):
            if isinstance(parent, FUNCTIONS):
                break
            if any(self._semantics.tree.inside(place, parent) for other in trained for place in (other.node, other.call)):
                break
            if self._runs.turns_autograd_off(parent) or (found is not None and isinstance(parent, LOOPS)):
                assert isinstance(parent, ast.stmt)
                found = parent
        return found

    def _goes_on(self, scope: FlowScope, model: Reference, run: Run) -> bool:
        """Whether training may follow in the mode that the evaluation leaves."""
        modes, flow = self._modes, self._semantics.control_flow
        setting = [found.node for found in modes.settings(scope, model) if Mode.TRAIN in found.modes]
        later = [found for found in modes.runs(scope, model) if modes.trains(found)]
        return any(flow.may_follow(run.node, found.node, setting) for found in later)
