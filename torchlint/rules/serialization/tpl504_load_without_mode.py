from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.evaluation import is_test_case
from torchlint.rules.mode_calls import ModeCalls
from torchlint.rules.screens import Screen
from torchlint.semantics import Type
from torchlint.semantics.code.control_flow import Ahead, FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, last_name
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modules.mode_dependence import ModeDependence
from torchlint.semantics.training.modes import Mode, Run, Setting, Modes
from torchlint.semantics.training.mentions import Mentions
from torchlint.semantics.training.switches import Switches
from torchlint.semantics.training.trained_models import TrainedModels

_MODE_MATTERS = re.compile(
    rb"[Dd]rop|BatchNorm|batch_norm|RReLU|rrelu|\.training\b|torchvision|Transformer|Res[Nn]e|DenseNet|EfficientNet|MobileNet|"
    rb"Inception|B[Ee][Rr][Tt]|GPT|ViT|U[Nn]et"
)
"""What a file names that has, or makes, a model whose mode makes a difference."""


class LoadWithoutMode(AstRule):
    """
    ## What it does
    Finds models that are made, get their weights by `load_state_dict` and are then run, with neither `eval()` nor `train()`
    called on them in between.

    ## Why is this bad
    A new model is in training mode, and loading weights does not change that. Dropout makes each prediction another one, and
    batch normalisation works with the batch at hand, and changes the weights that were just loaded.

    ## Example
    ```python
    import torchvision

    model = torchvision.models.resnet18()
    model.load_state_dict(torch.load("resnet18.pt", map_location="cpu"))
    with torch.no_grad():
        print(model(image).argmax(1))
    ```

    ## Use instead
    ```python
    import torchvision

    model = torchvision.models.resnet18()
    model.load_state_dict(torch.load("resnet18.pt", map_location="cpu"))
    model.eval()
    with torch.no_grad():
        print(model(image).argmax(1))
    ```

    ## Fix safety
    Unsafe: the predictions change. `model.eval()` is inserted behind the loading; there is no fix where other code shares that
    line.

    ## References
    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    """

    code = "TPL504"
    name = "load-without-mode"
    screen = Screen(
        any_of=(b"load_state_dict",),
        and_any_of=(b".load_state_dict(",),
        pattern=_MODE_MATTERS,
        names=frozenset({b".load_state_dict", b".training"}),
    )

    def finish(self) -> None:
        """Looks at each place that loads weights."""
        references = self.semantics.of(Modes).references
        for load in self.semantics.facts.calls.get("load_state_dict", ()):
            if not isinstance(load.func, ast.Attribute) or (model := references.of(load.func.value)) is None:
                continue
            scope = self.semantics.control_flow.scope(load)
            if not self._is_anothers_business(scope) and self._is_in_training_mode(load, scope, model):
                run = next(self._later_runs(load, scope, model), None)
                if run is not None and self._dependence.of(load.func.value):
                    self._report(load, run)

    def _is_anothers_business(self, scope: FlowScope) -> bool:
        """Whether the mode is up to others: a framework, or the module whose part is loaded; or a test is looked at."""
        if self.semantics.of(Modes).is_managed(scope) or is_test_case(scope, self.semantics):
            return True
        owner = self.semantics.tree.parent(scope)
        return isinstance(owner, ast.ClassDef) and self.semantics.facts.is_module(owner)

    # --- what is run in training mode --------------------------------------------------------------------------------

    def _is_in_training_mode(self, load: ast.Call, scope: FlowScope, model: Reference) -> bool:
        """Whether a model was made in this scope and no mode was set since."""
        if (scope, model) not in self._settings:
            flow = self.semantics.control_flow
            settings = self.semantics.of(Modes).settings(scope, model)
            made = {setting.node: None for setting in settings if self._makes_model(setting, model)}
            others = [setting.node for setting in settings if setting.node not in made]
            self._settings[scope, model] = (flow.ahead_of(scope, made, others), flow.ahead_of(scope, others, made))
        behind_making, behind_others = self._settings[scope, model]
        return behind_making.includes(load) and not behind_others.includes(load)

    @cached_property
    def _settings(self) -> dict[tuple[FlowScope, Reference], tuple[Ahead, Ahead]]:
        """For each model, what may come behind its making, and behind other settings of its mode."""
        return {}

    def _makes_model(self, setting: Setting, model: Reference) -> bool:
        """Whether a setting is an assignment of a new model: of a known class, of torchvision, or of what is called a class."""
        target, statement = setting.node, self.semantics.tree.parent(setting.node)
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.expr):
            return False
        if self.semantics.of(Modes).references.rebound(target) != model:
            return False
        value = statement.value
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and last_name(value.func) in ("to", "cuda"):
            value = value.func.value
        if not isinstance(value, ast.Call) or self.semantics.kind(value).type not in (Type.MODULE, Type.UNKNOWN):
            return False
        name = self.semantics.qualified_name(value.func) or ""
        return setting.modes == {Mode.TRAIN} or name.startswith("torchvision.models.") or last_name(value.func)[:1].isupper()

    def _later_runs(self, load: ast.Call, scope: FlowScope, model: Reference) -> Iterator[Run]:
        """The runs of a model that may follow its loading: in its scope, behind a call that returns it, in other methods."""
        yield from self._runs_behind(load, scope, model)
        if isinstance(scope, FUNCTIONS):
            for call, target in self._receivers(load, scope, model):
                yield from self._runs_behind(call, self.semantics.control_flow.scope(call), target)
            yield from self._runs_in_other_methods(load, scope, model)

    def _runs_behind(self, place: ast.Call, scope: FlowScope, model: Reference) -> Iterator[Run]:
        """The runs of a model that may follow a place with no mode set in between, where nothing trains the model."""
        modes, flow = self.semantics.of(Modes), self.semantics.control_flow
        if self._is_trained(scope, model):
            return
        statement = self.semantics.tree.statement(place)
        settings = [setting.node for setting in modes.settings(scope, model)]
        others = [node for node in settings if self.semantics.tree.statement(node) is not statement]
        for run in modes.runs(scope, model):
            if flow.may_follow(place, run.node, others):
                yield run

    def _is_trained(self, scope: FlowScope, model: Reference) -> bool:
        if (scope, model) not in self._trained:
            modes = self.semantics.of(Modes)
            trains = any(modes.trains(run) for run in modes.all_runs(scope, model))
            self._trained[scope, model] = trains or self.semantics.of(TrainedModels).is_trained(scope, model)
        return self._trained[scope, model]

    @cached_property
    def _trained(self) -> dict[tuple[FlowScope, Reference], bool]:
        return {}

    def _receivers(self, load: ast.Call, function: Function, model: Reference) -> Iterator[tuple[ast.Call, Reference]]:
        """The calls of a function that returns the model as it was loaded, and what is bound to it there."""
        modes, flow = self.semantics.of(Modes), self.semantics.control_flow
        settings = [setting.node for setting in modes.settings(function, model)]
        returned = self.semantics.facts.returned(function)
        if not returned or any(value is None or modes.references.of(value) != model for value in returned):
            return
        if not flow.may_end(load, settings):
            return
        for call in self.semantics.facts.call_sites(function):
            statement = self.semantics.tree.parent(call)
            if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
                if (target := modes.references.rebound(statement.targets[0])) is not None:
                    yield call, target

    def _runs_in_other_methods(self, load: ast.Call, method: Function, model: Reference) -> Iterator[Run]:
        """The runs of a model that is an attribute, in the other methods of its class, where none sets its mode."""
        modes = self.semantics.of(Modes)
        owner = self.semantics.tree.parent(method)
        if not isinstance(owner, ast.ClassDef) or model.root is not method or len(model.path) != 2:
            return
        others: list[tuple[Function, Reference]] = [
            (other, Reference(other, (first.arg, *model.path[1:])))
            for other in self.semantics.facts.classes[owner].methods.values()
            for first in other.args.args[:1]
            if other is not method
        ]
        if self.semantics.of(TrainedModels).is_trained(method, model) or any(modes.settings(other, found) for other, found in others):
            return
        settings = [setting.node for setting in modes.settings(method, model)]
        runs = [run for other, found in others for run in modes.runs(other, found)]
        if not any(modes.trains(run) for run in runs) and self.semantics.control_flow.may_end(load, settings):
            yield from runs

    @cached_property
    def _dependence(self) -> ModeDependence:
        return ModeDependence(self.semantics)

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _report(self, load: ast.Call, run: Run) -> None:
        assert isinstance(load.func, ast.Attribute)
        name = self.source.segment(load.func.value)
        calls = ModeCalls(self.source, Rewriter(self.source, self.semantics))
        edit = calls.behind(self.semantics.tree.statement(load), f"{name}.eval()")
        fix = self.fix(f"Insert `{name}.eval()`", [edit], safe=False) if edit else None
        name, used = ast.unparse(load.func.value), ast.unparse(run.node.func)
        self.report(
            load, f"`{name}` is still in training mode when `{used}(…)` runs it: call `{name}.eval()` after loading", fix
        )
