from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, decorate, fix, insert_behind, insert_first, insert_last, wrap
from torchlint.fixes.code import expression, statement
from torchlint.fixes.parentheses import bare
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.modes.training_mode_evaluations import EvaluatedInTraining
from torchlint.target import TorchVersion


class EvaluationInTrainingMode(Rule):
    """
    ## What it does
    Finds evaluation with neither `eval()` nor `no_grad()`: a loop or a function that runs a model for figures alone, behind
    the training of that model, in the mode that the training left and with autograd on, also where other files call both.

    ## Why is this bad
    Dropout still drops and batch normalisation goes by the batch, so the figures are wrong; its running statistics take in the
    test set, so evaluating changes the model; and each forward pass records a graph for a backward pass that never comes.

    ## Example
    ```python
    from torchvision.models import resnet18

    model = resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for x, y in train_loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    ```

    ## Use instead
    ```python
    from torchvision.models import resnet18

    model = resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for x, y in train_loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            model.eval()
            for x, y in test_loader:
                correct += (model(x).argmax(1) == y).sum().item()
            model.train()
    ```

    ## Fix safety
    Unsafe: the figures change. `model.train()` is put behind the evaluation where training goes on and does not set the mode
    itself.

    Left alone are models whose mode makes no difference, as far as that is in sight, and code that samples, predicts or
    encodes, which may want what it finds. A model is a strict finding of which the mode is not known to matter: not all of its
    layers are in sight, and the file sets the mode of none that is called so.

    ## References
    - [torch.nn.Module.eval](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval)
    - [torch.no_grad](https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html)
    """

    code = "TPL320"
    name = "evaluation-in-training-mode"
    since = TorchVersion(0, 4)
    triggers = (Found(".modes.training_mode_evaluations:TrainingModeEvaluations.recorded"),)
    needs = (("backward", "manual_backward"), ("parameters", "named_parameters", "train"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call that evaluates."""
        evaluated = self.model.training.recorded_in_training(node)
        if evaluated is None:
            return
        name, changes = self.model.shown(evaluated.model), _changes(evaluated)
        self.report(
            node,
            f"`{name}` is evaluated in training mode and with autograd on: call `{name}.eval()` and use `torch.no_grad()`",
            fix(f"Evaluate `{name}` in evaluation mode, without autograd", *changes, rests_on=unknown("the figures change"))
            if changes
            else None,
            strict=not evaluated.matters,
        )


def _changes(evaluated: EvaluatedInTraining[cst.BaseExpression, cst.CSTNode]) -> list[Change]:
    """Sets evaluation mode and turns autograd off for an evaluation; sets training mode behind it if the training goes on."""
    model, no_grad = bare(evaluated.model), expression("{torch.no_grad}()")
    set_eval, set_train = statement("{model}.eval()", model=model), statement("{model}.train()", model=model)
    if evaluated.statement is not None:
        changes = [wrap([evaluated.statement], no_grad, first=set_eval)]
        last = insert_behind(evaluated.statement, set_train, alone=True)
    elif evaluated.function is not None:
        changes = [decorate(evaluated.function, no_grad), insert_first(evaluated.function, set_eval, alone=True)]
        last = insert_last(evaluated.function, set_train, alone=True)
    else:
        return []
    return [*changes, last] if evaluated.training_goes_on else changes
