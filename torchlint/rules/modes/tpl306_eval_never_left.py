from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, insert_before
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class EvalNeverLeft(Rule):
    """
    ## What it does
    Finds models that are put into evaluation mode within a training loop and are still in it when the training goes on: nothing
    calls `model.train()` before the next round trains the model. Likewise an evaluation before the loop that leaves a model in
    evaluation mode which was put into training mode before.

    Left alone is a model that only helps to train others, such as a teacher: a function runs it that puts these into training
    mode itself, one for each optimizer that it steps; or the statement beside `eval()` puts another model into training mode.

    ## Why is this bad
    `eval()` holds until `train()` is called. From the second epoch on dropout is off and batch normalisation uses the
    statistics of the first: another training than the one that was meant, with no error.

    ## Example
    ```python
    model.train()
    for epoch in range(epochs):
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
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
            optimizer.zero_grad()
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
    triggers = (Found(".modes.evaluation_mode_trainings:EvaluationModeTrainings.found"),)
    needs = (("backward", "manual_backward", "grad", "training_step"), ("eval", "train"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call that puts the model into evaluation mode."""
        trained = self.model.training.trained_in_evaluation(node)
        if trained is None or not isinstance(node.func, cst.Attribute):
            return
        set_train = insert_before(trained.statement, statement(f"{trained.name}.train()"), alone=True)
        self.report(
            node,
            f"`{self.model.shown(node.func.value)}` stays in evaluation mode when `{self.model.shown(trained.training)}(…)` "
            "goes on training it: call `train()` before that",
            fix(
                f"Insert `{trained.name}.train()`",
                set_train,
                rests_on=unknown("the model is trained in another mode than before"),
            ),
        )
