from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.evaluation import is_evaluation, is_test_case, model_of
from torchlint.rules.mode_calls import ModeCalls
from torchlint.rules.screens import Screen
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Loop
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modules.mode_dependence import ModeDependence
from torchlint.semantics.training.modes import TRAIN, Mode, Run, Setting, Modes
from torchlint.semantics.training.mentions import Mentions
from torchlint.semantics.training.switches import Switches
from torchlint.semantics.training.trained_models import TrainedModels
from torchlint.semantics.autograd.backpropagation import Backpropagated

_METRIC = re.compile(
    r"(^|_|\.)(val|valid|validation|test|tests|eval|evaluate|evaluation|acc|accuracy|metrics?|correct|hits?|score|scores|dice|iou|"
    r"auc|psnr|ssim|f1|bleu|wer|cer|rmse|mae|recall|precision|mrr|map|dev)(?=$|_|\.|\d)",
    re.IGNORECASE,
)
"""What names hold that come from evaluating a model."""
_FIGURE = re.compile(rf"{_METRIC.pattern}|loss|criterion|cross_entropy|nll|argmax|topk|^item$", re.IGNORECASE)
"""The same, or something that a training may have, too."""
_SAMPLING = re.compile(
    rb"\bgym(nasium)?\b|\benvs?[\s\\)]*\.[\s\\]*(step|reset)\b|replay_?(buffer|memory)|\brollouts?\b", re.IGNORECASE
)
"""Code of reinforcement learning, which samples from its policy without autograd, and trains on that."""


class NoGradWithoutEval(AstRule):
    """
    ## What it does
    Finds evaluation, in `torch.no_grad()`, of a model that was trained just before and is still in training mode: on the way
    from the training to the evaluation nothing calls `model.eval()`.

    ## Why is this bad
    `no_grad()` turns autograd off; it does not change the mode of the model. Dropout still drops, so the figures are random
    and too low, and batch normalisation still follows the batches, so that evaluating changes the model.

    ## Example
    ```python
    for epoch in range(epochs):
        model.train()
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            for x, y in val_loader:
                correct += (model(x).argmax(1) == y).sum()
    ```

    ## Use instead
    ```python
    for epoch in range(epochs):
        model.train()
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, y in val_loader:
                correct += (model(x).argmax(1) == y).sum()
    ```

    ## Fix safety
    Unsafe: the figures change. `model.eval()` is inserted before the evaluation, and `model.train()` behind it where training
    goes on and does not set the mode itself.

    ## References
    - [torch.nn.Module.eval](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval)
    - [Autograd mechanics: evaluation mode](https://docs.pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval)
    """

    code = "TPL305"
    name = "no-grad-without-eval"
    screen = Screen(
        any_of=(b"no_grad", b"inference_mode", b"set_grad_enabled"),
        and_any_of=(b"backward",),
        check=lambda data: _SAMPLING.search(data) is None,
    )

    def finish(self) -> None:
        """Looks at each scope that has a model which the file trains."""
        reported: set[ast.Call] = set()
        for scope, model in self.semantics.of(TrainedModels).all:
            if self.semantics.of(Modes).is_managed(scope) or is_test_case(scope, self.semantics):
                continue
            for run in self._evaluated(scope, model):
                if run.call not in reported and self._depends(scope, model, run.call):
                    reported.add(run.call)
                    self._report(scope, model, run)
                    break

    # --- what is evaluated in training mode --------------------------------------------------------------------------

    def _evaluated(self, scope: FlowScope, model: Reference) -> list[Run]:
        """The runs of a model without autograd that may come right after training it, with no setting of its mode between."""
        modes, flow = self.semantics.of(Modes), self.semantics.control_flow
        runs = [run for run in modes.runs(scope, model) if not modes.is_recorded(run)]
        if not runs:
            return []
        trained = [run for run in modes.all_runs(scope, model) if modes.trains(run)]
        settings = modes.settings(scope, model)
        starts = self._left_in_training(scope, trained, settings)
        between = [setting.node for setting in settings]
        reached = flow.ahead_of(scope, [start.node for start in starts], between, up_to=[run.node for run in runs])
        last_trained = self._last_trained(trained)
        return [run for run in runs if self._is_evaluation(run, last_trained) and reached.includes(run.node)]

    def _left_in_training(self, scope: FlowScope, trained: list[Run], settings: tuple[Setting, ...]) -> list[Run]:
        """The runs behind which a model is in training mode: it was not put into the other before."""
        modes = {setting.node: setting.modes for setting in reversed(settings)}
        training = [setting.node for setting in settings if setting.modes == TRAIN]
        others = [setting.node for setting in settings if setting.modes != TRAIN]
        in_another = self.semantics.control_flow.ahead_of(scope, others, training)
        return [
            run for run in trained if (modes[run.node] == TRAIN if run.node in modes else not in_another.includes(run.node))
        ]

    def _last_trained(self, trained: list[Run]) -> dict[Loop | None, int]:
        """Where what trains a model is run last: in each loop, and (None) in all."""
        found: dict[Loop | None, int] = {}
        for run in trained:
            start = self.source.start(run.node)
            around = {*self.semantics.tree.ancestors(run.node), *self.semantics.tree.ancestors(run.call)}
            for loop in (None, *(parent for parent in around if isinstance(parent, LOOPS))):
                found[loop] = max(start, found.get(loop, start))
        return found

    def _is_evaluation(self, run: Run, last_trained: dict[Loop | None, int]) -> bool:
        """Whether a run is for figures or samples to look at, and nothing that the training works with."""
        if self.semantics.of(Backpropagated).call(run.call):
            return False
        tree = self.semantics.tree
        function = tree.function(run.call)
        if run.node is not run.call and isinstance(function, FUNCTIONS) and is_evaluation(function.name):
            return True
        loop = next(tree.loops(run.call), None)
        if loop in last_trained:
            if self.source.start(run.node) < last_trained[loop]:
                return False  # what comes before the training may be what it works with
            blocks = (parent for parent in tree.ancestors(run.call) if self._turns_autograd_off(parent))
            return _mentions(next(blocks, tree.statement(run.call)), _METRIC)
        return _mentions(loop or tree.statement(run.call), _FIGURE)

    def _depends(self, scope: FlowScope, model: Reference, call: ast.Call) -> bool:
        """Whether the mode makes a difference: by the model's class, or else by its author's calls of ``train``."""
        depends = self._dependence.of(model_of(call))
        if depends is None:
            kind = self.semantics.kind(model_of(call))
            return kind.name not in LOSS_MODULES and self.semantics.of(TrainedModels).is_put_into_training(scope, model)
        return depends

    @cached_property
    def _dependence(self) -> ModeDependence:
        return ModeDependence(self.semantics)

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _report(self, scope: FlowScope, model: Reference, run: Run) -> None:
        name = ast.unparse(model_of(run.call))
        message = f"`{name}` is evaluated in training mode: `no_grad()` does not change that; call `{name}.eval()` before"
        edits = self._edits(scope, model, run, self.source.segment(model_of(run.call)))
        self.report(run.call, message, self.fix(f"Insert `{name}.eval()`", edits, safe=False) if edits else None)

    def _edits(self, scope: FlowScope, model: Reference, run: Run, name: str) -> list[TextEdit] | None:
        calls = ModeCalls(self.source, Rewriter(self.source, self.semantics))
        block = self._evaluation_statement(scope, model, run)
        function = self.semantics.tree.function(run.call)
        goes_on = self._goes_on(scope, model, run)
        if block is not None:
            edits = [calls.before(block, f"{name}.eval()")]
            if goes_on:
                edits.append(calls.behind(block, f"{name}.train()"))
        elif isinstance(function, FUNCTIONS):
            edits = [calls.first(function, f"{name}.eval()")]
            if goes_on:
                edits.append(calls.last(function, f"{name}.train()"))
        else:
            return None
        return None if None in edits else [edit for edit in edits if edit is not None]

    def _evaluation_statement(self, scope: FlowScope, model: Reference, run: Run) -> ast.stmt | None:
        """The ``with torch.no_grad():`` around a run, or the outermost loop around that in which nothing is trained."""
        found: ast.stmt | None = None
        trained = [other for other in self.semantics.of(Modes).all_runs(scope, model) if self.semantics.of(Modes).trains(other)]
        for parent in self.semantics.tree.ancestors(run.call):
            if isinstance(parent, FUNCTIONS):
                break
            if any(self.semantics.tree.inside(place, parent) for other in trained for place in (other.node, other.call)):
                break
            if self._turns_autograd_off(parent) or (found is not None and isinstance(parent, LOOPS)):
                assert isinstance(parent, ast.stmt)
                found = parent
        return found

    def _turns_autograd_off(self, node: ast.AST) -> bool:
        return isinstance(node, ast.With) and any(
            self.semantics.no_grad.grad_mode(item.context_expr) is False for item in node.items
        )

    def _goes_on(self, scope: FlowScope, model: Reference, run: Run) -> bool:
        """Whether training may follow in the mode that the evaluation leaves."""
        modes, flow = self.semantics.of(Modes), self.semantics.control_flow
        setting = [found.node for found in modes.settings(scope, model) if Mode.TRAIN in found.modes]
        later = [found for found in modes.runs(scope, model) if modes.trains(found)]
        return any(flow.may_follow(run.node, found.node, setting) for found in later)


def _mentions(node: ast.AST, names: re.Pattern[str]) -> bool:
    return any(
        names.search(part.id if isinstance(part, ast.Name) else part.attr)
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute))
    )
