from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.evaluation import EVALUATES, SWITCHES, is_test_case, model_of
from torchlint.rules.mode_calls import ModeCalls
from torchlint.rules.screens import Screen
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, Loop, last_name
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modules.mode_dependence import ModeDependence
from torchlint.semantics.training.modes import EVAL, Mode, Run, Setting, Modes
from torchlint.semantics.training.mentions import Mentions
from torchlint.semantics.training.switches import Switches
from torchlint.semantics.training.trained_models import TrainedModels
from torchlint.semantics.autograd.backpropagation import Backpropagated

_CRITERION = re.compile(r"loss|crit|cost|objective|mse|bce|entropy", re.IGNORECASE)
"""What is called that is given a model's output, and is no model itself."""
_MOST_PLACES = 100
"""So many places of one scope that set a model's mode, or train it, are compared; code that has more is generated."""


class EvalNeverLeft(AstRule):
    """
    ## What it does
    Finds models that are put into evaluation mode within a training loop and are still in it when the training goes on: nothing
    calls `model.train()` before the next round trains the model.

    ## Why is this bad
    `eval()` holds until `train()` is called. From the second epoch on dropout is off and batch normalisation uses the
    statistics of the first: another training than the one that was meant, with no error.

    ## Example
    ```python
    model.train()
    for epoch in range(epochs):
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = sum((model(x).argmax(1) == y).sum() for x, y in val_loader)
    ```

    ## Use instead
    ```python
    model.train()
    for epoch in range(epochs):
        model.train()
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = sum((model(x).argmax(1) == y).sum() for x, y in val_loader)
    ```

    ## Fix safety
    Unsafe: the training changes. `model.train()` is inserted in front of what trains the model in each round. There is no fix
    where other code shares that line.

    ## References
    - [torch.nn.Module.train](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train)
    """

    code = "TPL306"
    name = "eval-never-left"
    screen = Screen(any_of=(b"backward",), pattern=EVALUATES, names=SWITCHES)

    def finish(self) -> None:
        """Looks at each scope that has a model which the file trains."""
        reported: set[ast.AST] = set()
        for scope, model in self._models():
            if self.semantics.of(Modes).is_managed(scope) or is_test_case(scope, self.semantics):
                continue
            for setting, run, loop in self._trained_in_evaluation_mode(scope, model):
                switch = setting.switch or setting.node
                if switch not in reported and self._dependence.of(model_of(run.call)) is not False:
                    reported.add(switch)
                    self._report(model, switch, run, loop)

    def _models(self) -> Iterator[tuple[FlowScope, Reference]]:
        """The models that the file trains: by its optimizers and calls of ``train``, or as the only model of a function."""
        modes = self.semantics.of(Modes)
        known = set(self.semantics.of(TrainedModels).all)
        yield from self.semantics.of(TrainedModels).all
        for switch, models, mode in self.semantics.of(Switches).all:
            for model in models or () if mode is Mode.EVAL else ():
                for scope, found in self.semantics.of(TrainedModels).scopes_of(model, self.semantics.control_flow.scope(switch)):
                    if (scope, found) not in known and isinstance(scope, FUNCTIONS) and self._is_only_model(scope, found):
                        known.add((scope, found))
                        yield scope, found

    def _is_only_model(self, function: Function, model: Reference) -> bool:
        """Whether a function trains no other model, of which this one might be a frozen part; it is given the optimizer."""
        references = self.semantics.of(Modes).references
        calls = self.semantics.of(Mentions).calls_in(function)
        if not any(last_name(call.func) == "step" for call in calls):
            return False
        for call in calls:
            called = references.of(call.func) if self.semantics.of(Backpropagated).call(call) else None
            if called is not None and called.root is function and not model.holds(called):
                given = isinstance(call.func, ast.Name) or self.semantics.facts.self_class(_owner(call.func)) is not None
                if given and not _CRITERION.search(last_name(call.func)):
                    return False
        return True

    @cached_property
    def _dependence(self) -> ModeDependence:
        return ModeDependence(self.semantics)

    # --- where evaluation mode is never left -------------------------------------------------------------------------

    def _trained_in_evaluation_mode(self, scope: FlowScope, model: Reference) -> Iterator[tuple[Setting, Run, Loop]]:
        """The places that put a model into evaluation mode, what then trains it nevertheless, and the loop that has both."""
        modes, flow = self.semantics.of(Modes), self.semantics.control_flow
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
        return next((loop for loop in self.semantics.tree.loops(one) if self.semantics.tree.inside(other, loop)), None)

    def _evaluates(self, scope: FlowScope, model: Reference, setting: Setting, trained: list[Run]) -> bool:
        """Whether the model is first run to be evaluated, and not trained, once its mode is set."""
        modes, flow = self.semantics.of(Modes), self.semantics.control_flow
        others = [run for run in modes.all_runs(scope, model) if not modes.trains(run)]
        if any(run.node is setting.node for run in others):
            return True  # a function sets the mode and evaluates
        obstacles: list[ast.AST] = [self._entered(run.node, setting.node) for run in trained]
        obstacles += [found.node for found in modes.settings(scope, model) if found.node is not setting.node]
        return any(flow.may_follow(setting.node, run.node, obstacles) for run in others if run.node not in obstacles)

    def _entered(self, node: ast.AST, outside: ast.AST) -> ast.AST:
        """Where the loops around ``node`` begin that ``outside`` does not stand in: they are taken to have a first round."""
        loops = [loop for loop in self.semantics.tree.loops(node) if not self.semantics.tree.inside(outside, loop)]
        if not loops:
            return node
        return loops[-1].test if isinstance(loops[-1], ast.While) else loops[-1].iter

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _report(self, model: Reference, switch: ast.AST, run: Run, loop: Loop) -> None:
        assert isinstance(switch, ast.Call) and isinstance(switch.func, ast.Attribute)
        name = ast.unparse(switch.func.value)
        place = ast.unparse(run.node.func)
        message = f"`{name}` stays in evaluation mode when `{place}(…)` goes on training it: call `train()` before that"
        edit = self._edit(".".join(model.path), run, loop)
        self.report(switch, message, self.fix(f"Insert `{'.'.join(model.path)}.train()`", [edit], safe=False) if edit else None)

    def _edit(self, name: str, run: Run, loop: Loop) -> TextEdit | None:
        """Puts the model into training mode in front of what, in the loop's body, trains it."""
        statement = self.semantics.tree.statement(run.node)
        for parent in self.semantics.tree.ancestors(statement):
            if parent is loop:
                break
            if isinstance(parent, ast.stmt):
                statement = parent
        calls = ModeCalls(self.source, Rewriter(self.source, self.semantics))
        return calls.before(statement, f"{name}.train()")


def _owner(function: ast.expr) -> ast.expr:
    return function.value if isinstance(function, ast.Attribute) else function
