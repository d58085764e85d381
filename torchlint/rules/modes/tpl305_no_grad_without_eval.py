from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, fix, insert_before, insert_behind, insert_first, insert_last, replace
from torchlint.fixes.code import expression, statement
from torchlint.fixes.parentheses import bare
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.modes.training_mode_evaluations import EvaluatedInTraining


class NoGradWithoutEval(Rule):
    """
    ## What it does
    Finds evaluation, in `torch.no_grad()`, of a model that was trained just before and is still in training mode: on the way
    from the training to the evaluation nothing calls `model.eval()`. So it is where a function evaluates what it is given, a
    function beside it trains that, and none of the files that call them puts a model into evaluation mode.

    Strict is a model of which nothing shows that its layers, or those of a class that it may be of, care for the mode, and one
    that is an attribute of an object, in a file that puts anything into evaluation mode: another method may do so first. A
    function that is told which of the two modes it is to set, `model.train() if training else model.eval()`, is left alone.

    ## Why is this bad
    `no_grad()` turns autograd off; it does not change the mode of the model. Dropout still drops, so the figures are random
    and too low, and batch normalisation still follows the batches, so that evaluating changes the model.

    ## Example
    ```python
    for epoch in range(epochs):
        model.train()
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
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
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, y in val_loader:
                correct += (model(x).argmax(1) == y).sum()
    ```

    ## Fix safety
    Unsafe: the figures change. `model.eval()` is inserted before the evaluation, and `model.train()` behind it where training
    goes on and does not set the mode itself. A function that evaluates and calls `model.train()` first calls `model.eval()`
    instead, and ends with the other. Nothing is inserted into a function that is not called like an evaluation, and more than
    once, since training may call it, too, nor in front of what may set training mode again.

    ## References
    - [torch.nn.Module.eval](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval)
    - [Autograd mechanics: evaluation mode](https://docs.pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval)
    """

    code = "TPL305"
    name = "no-grad-without-eval"
    triggers = (Found(".modes.training_mode_evaluations:TrainingModeEvaluations.found"),)
    needs = (("no_grad", "inference_mode", "set_grad_enabled"), ("backward", "manual_backward", "grad", "training_step"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call that evaluates."""
        evaluated = self.model.training.evaluated_in_training(node)
        if evaluated is None:
            return
        name, changes = self.model.shown(evaluated.model), _settings(evaluated)
        self.report(
            node,
            f"`{name}` is evaluated in training mode: `no_grad()` does not change that; call `{name}.eval()` before",
            fix(
                f"{'Insert' if evaluated.switch is None else 'Call'} `{name}.eval()`",
                *changes,
                rests_on=unknown("the figures of the evaluation change"),
            )
            if changes
            else None,
            strict=not (evaluated.matters and evaluated.is_certain),
        )


def _settings(evaluated: EvaluatedInTraining[cst.BaseExpression, cst.CSTNode]) -> list[Change]:
    """Sets evaluation mode before an evaluation, and training mode behind it where the training goes on."""
    if isinstance(evaluated.switch, cst.Call) and isinstance(evaluated.switch.func, cst.Attribute):
        return _switched(evaluated, evaluated.switch, evaluated.switch.func.value)
    model = bare(evaluated.model)
    set_eval, set_train = statement("{model}.eval()", model=model), statement("{model}.train()", model=model)
    if evaluated.statement is not None:
        first = insert_before(evaluated.statement, set_eval, alone=True)
        last = insert_behind(evaluated.statement, set_train, alone=True)
    elif evaluated.function is not None:
        first = insert_first(evaluated.function, set_eval, alone=True)
        last = insert_last(evaluated.function, set_train, alone=True)
    else:
        return []
    return [first, last] if evaluated.training_goes_on else [first]


def _switched(
    evaluated: EvaluatedInTraining[cst.BaseExpression, cst.CSTNode], switch: cst.Call, model: cst.BaseExpression
) -> list[Change]:
    """Sets evaluation mode where a function sets training mode, in which it leaves the model as before."""
    assert evaluated.function is not None
    set_train = statement("{model}.train()", model=bare(model))
    return [
        replace(switch, expression("{model}.eval()", model=bare(model))),
        insert_last(evaluated.function, set_train, alone=True),
    ]
