"""Models that are run with the weights that were loaded into them, and in the training mode that they were made in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.control_flow import Ahead, FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, dotted, last_name
from torchlint.semantics.conditions.assumptions import Assumption, Assumptions
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modes.modes import TRAIN, Modes, Run, Setting
from torchlint.semantics.modes.ruled_gradients import RuledGradients
from torchlint.semantics.modes.runs.evaluating_runs import EvaluatingRuns
from torchlint.semantics.modes.switches import Mode, Switches
from torchlint.semantics.modes.trained_models import TrainedModels
from torchlint.semantics.modules.mode_dependence import ModeDependence
from torchlint.semantics.modules.own_modes import OwnModes
from torchlint.semantics.purpose import Purpose


class LoadedModels:
    """Finds the models of a file that are loaded, and follows them to where they are run."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._modes = semantics.of(Modes)
        self._settings: dict[tuple[FlowScope, Reference], tuple[Ahead, Ahead]] = {}
        self._trained: dict[tuple[FlowScope, Reference], bool] = {}

    @cached_property
    def run_in_training(self) -> dict[ast.Call, ast.Call]:
        """The calls of ``load_state_dict`` behind which the model is run in training mode, each with the first such run.

        The model is one that is made there, that nothing trains, and for which the mode makes a difference.
        """
        dependence = self._semantics.of(ModeDependence)
        found: dict[ast.Call, ast.Call] = {}
        for load in self._semantics.facts.calls.get("load_state_dict", ()):
            if not isinstance(load.func, ast.Attribute) or (model := self._modes.references.of(load.func.value)) is None:
                continue
            scope = self._semantics.control_flow.scope(load)
            if not self._is_anothers_business(scope) and self._is_in_training_mode(load, scope, model):
                run = next(self._later_runs(load, scope, model), None)
                if run is None or self._is_tried(load, run) or self._is_of_target(load) or self._sets_parts(run):
                    continue
                if not self._semantics.of(OwnModes).are_set(load.func.value):
                    continue
                depends = dependence.of(load.func.value)
                if depends or (depends is None and self._is_known_to_depend(load.func.value, run)):
                    found[load] = run.node
        return found

    def _is_tried(self, load: ast.Call, run: Run) -> bool:
        """Whether what makes a model is run once to try out the file that defines it: the model is for others."""
        is_made_for_others = self._semantics.tree.function(load) is not self._semantics.tree.function(run.node)
        return is_made_for_others and self._semantics.of(Purpose).is_try_out(run.node)

    def _sets_parts(self, run: Run) -> bool:
        """Whether the function that runs a model says itself which parts of it are in evaluation mode, and so which are not:
        ``net.encoder.eval()``, and then ``net(x)``.
        """
        function, model = self._semantics.tree.function(run.call), dotted(run.model)
        owners = (
            call.func.value
            for call, _, mode in self._semantics.of(Switches).all
            if mode is Mode.EVAL and isinstance(call.func, ast.Attribute) and self._semantics.tree.function(call) is function
        )
        return model is not None and any((dotted(owner) or "").startswith(f"{model}.") for owner in owners)

    def _is_of_target(self, load: ast.Call) -> bool:
        """Whether the weights are those of a network that lives beside this one: its target, in reinforcement learning."""
        match load.args:
            case [ast.Call(func=ast.Attribute(attr="state_dict")), *_]:
                return self._semantics.of(Purpose).is_reinforcement_learning
        return False

    def _is_known_to_depend(self, model: ast.expr, run: Run) -> bool:
        """Whether the mode of a model of another file matters to this one: it sets that of its like, or trains those and
        evaluates this one for figures.
        """
        makers = self._makers(model)
        if makers & self._with_modes:
            return True
        evaluates = self._semantics.of(EvaluatingRuns).is_evaluated_alone(run)
        ruled = self._modes.is_recorded(run) and self._semantics.of(RuledGradients).are_ruled_at(run.node)
        return evaluates and not ruled and bool(makers & self._trained_makers)

    @cached_property
    def _trained_makers(self) -> set[str]:
        """The classes and functions whose models' parameters an optimizer of this file is given."""
        calls = self._semantics.facts.calls.get("parameters", ())
        return {maker for call in calls if isinstance(call.func, ast.Attribute) for maker in self._makers(call.func.value)}

    @cached_property
    def _with_modes(self) -> set[str]:
        """The classes and functions whose models this file puts into a mode elsewhere: there, it matters."""
        switches = (call for call, _, _ in self._semantics.of(Switches).all)
        owners = [call.func.value for call in switches if isinstance(call.func, ast.Attribute)]
        return {maker for owner in owners for maker in self._makers(owner)}

    def _makers(self, model: ast.expr, depth: int = 1) -> set[str]:
        """The names of what makes the model that a variable holds, or that the callers give for it."""
        found: set[str] = set()
        for binding in self._semantics.bindings.reaching(model) if isinstance(model, ast.Name) else ():
            value = binding.value
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda"):
                value = value.func.value
            if binding.form is Form.ASSIGNMENT and isinstance(value, ast.Call):
                found.add(self._semantics.qualified_name(value.func) or dotted(value.func) or "")
            elif depth:
                for given in self._semantics.inference.given(binding):
                    found |= self._makers(given, depth - 1) if given is not None else set()
        return found - {""}

    def _is_anothers_business(self, scope: FlowScope) -> bool:
        """Whether the mode is up to others: a framework, or the module whose part is loaded; or a test is looked at."""
        if self._modes.is_managed(scope) or self._semantics.of(Purpose).is_test_case(scope):
            return True
        owner = self._semantics.tree.parent(scope)
        return isinstance(owner, ast.ClassDef) and self._semantics.facts.is_module(owner)

    # --- where a model is made, and in which mode it is then -----------------------------------------------------------

    def _is_in_training_mode(self, load: ast.Call, scope: FlowScope, model: Reference) -> bool:
        """Whether a model was made in this scope and no mode was set since."""
        if (scope, model) not in self._settings:
            flow = self._semantics.control_flow
            settings = self._modes.settings(scope, model)
            made = {setting.node: None for setting in settings if self._makes_model(setting, model)}
            others = [setting.node for setting in settings if setting.node not in made]
            self._settings[scope, model] = (flow.ahead_of(scope, made, others), flow.ahead_of(scope, others, made))
        behind_making, behind_others = self._settings[scope, model]
        return behind_making.includes(load) and not behind_others.includes(load)

    def _makes_model(self, setting: Setting, model: Reference) -> bool:
        """Whether a setting is an assignment of a new model: of a known class, of torchvision, or of what is called a class."""
        target, statement = setting.node, self._semantics.tree.parent(setting.node)
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.expr):
            return False
        if self._modes.references.rebound(target) != model:
            return False
        value = statement.value
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and last_name(value.func) in ("to", "cuda"):
            value = value.func.value
        if not isinstance(value, ast.Call) or self._semantics.kind(value).type not in (Type.MODULE, Type.UNKNOWN):
            return False
        definition = self._semantics.kind(value).definition
        if isinstance(definition, ast.ClassDef) and self._leaves_training(definition):
            return False
        name = self._semantics.qualified_name(value.func) or ""
        return setting.modes == TRAIN or name.startswith("torchvision.models.") or last_name(value.func)[:1].isupper()

    def _leaves_training(self, definition: ast.ClassDef) -> bool:
        """Whether the constructor of a class of the file puts its own object into evaluation mode."""
        made, switches = self._semantics.facts.method(definition, "__init__"), self._semantics.of(Switches).all
        return any(
            mode is Mode.EVAL
            and self._semantics.control_flow.scope(call) is made
            and isinstance(call.func, ast.Attribute)
            and self._semantics.facts.self_class(call.func.value) is not None
            for call, _, mode in switches
        )

    # --- where it is run -----------------------------------------------------------------------------------------------

    def _later_runs(self, load: ast.Call, scope: FlowScope, model: Reference) -> Iterator[Run]:
        """The runs of a model that may follow its loading: in its scope, behind a call that returns it, in other methods."""
        yield from self._runs_behind(load, scope, model)
        if isinstance(scope, FUNCTIONS):
            for call, target in self._receivers(load, scope, model):
                yield from self._runs_behind(call, self._semantics.control_flow.scope(call), target)
            yield from self._runs_in_other_methods(load, scope, model)

    def _runs_behind(self, place: ast.Call, scope: FlowScope, model: Reference) -> Iterator[Run]:
        """The runs of a model that may follow a place with no mode set in between, where nothing trains the model."""
        modes, flow = self._modes, self._semantics.control_flow
        if self._is_trained(scope, model):
            return
        statement = self._semantics.tree.statement(place)
        settings = [setting.node for setting in modes.settings(scope, model)]
        others = [node for node in settings if self._semantics.tree.statement(node) is not statement]
        for run in modes.runs(scope, model):
            if flow.may_follow(place, run.node, others):
                yield run

    def _is_trained(self, scope: FlowScope, model: Reference) -> bool:
        if (scope, model) not in self._trained:
            modes = self._modes
            trains = any(modes.trains(run) for run in modes.all_runs(scope, model))
            self._trained[scope, model] = trains or self._semantics.of(TrainedModels).is_trained(scope, model)
        return self._trained[scope, model]

    def _receivers(self, load: ast.Call, function: Function, model: Reference) -> Iterator[tuple[ast.Call, Reference]]:
        """The calls of a function that returns the model as it was loaded, and what is bound to it there."""
        modes, flow = self._modes, self._semantics.control_flow
        settings = [setting.node for setting in modes.settings(function, model)]
        returned = self._semantics.facts.returned(function)
        if not returned or any(value is None or modes.references.of(value) != model for value in returned):
            return
        if not flow.may_end(load, settings):
            return
        assumptions = self._semantics.of(Assumptions)
        for call in self._semantics.facts.call_sites(function):
            if assumptions.excludes(assumptions.within(function, call, Assumption()), load):
                continue  # `resnet()`, which is not to be pretrained
            statement = self._semantics.tree.parent(call)
            if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
                if (target := modes.references.rebound(statement.targets[0])) is not None:
                    yield call, target

    def _runs_in_other_methods(self, load: ast.Call, method: Function, model: Reference) -> Iterator[Run]:
        """The runs of a model that is an attribute, in the other methods of its class, where none sets its mode."""
        modes = self._modes
        owner = self._semantics.tree.parent(method)
        if not isinstance(owner, ast.ClassDef) or model.root is not method or len(model.path) != 2:
            return
        others: list[tuple[Function, Reference]] = [
            (other, Reference(other, (first.arg, *model.path[1:])))
            for other in self._semantics.facts.classes[owner].methods.values()
            for first in other.args.args[:1]
            if other is not method
        ]
        if self._semantics.of(TrainedModels).is_trained(method, model):
            return
        if any(modes.settings(other, found) for other, found in others):
            return
        settings = [setting.node for setting in modes.settings(method, model)]
        runs = [run for other, found in others for run in modes.runs(other, found)]
        if not any(modes.trains(run) for run in runs) and self._semantics.control_flow.may_end(load, settings):
            yield from runs
