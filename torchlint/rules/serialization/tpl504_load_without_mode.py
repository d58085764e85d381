from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, insert_behind
from torchlint.fixes.code import statement
from torchlint.fixes.parentheses import bare
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class LoadWithoutMode(Rule):
    """
    ## What it does
    Finds models that are made, get their weights by `load_state_dict` and are then run, with neither `eval()` nor `train()`
    called on them in between. What is of another file counts where the file sets the mode of such a model elsewhere, or trains
    one and evaluates this one. Where `eval()` is commented out below, somebody has decided against it: the finding is strict.
    Not reported is a run by a function that says which parts of the model are in evaluation mode, `model.encoder.eval()`.

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
    triggers = (Found(".modes.loaded_models:LoadedModels.run_in_training"),)
    needs = (("load_state_dict",),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call that loads the weights."""
        run = self.model.training.run_in_training_after(node)
        if run is None or not isinstance(node.func, cst.Attribute):
            return
        model = node.func.value
        name = self.model.shown(model)
        set_eval = insert_behind(self.model.statement(node), statement("{model}.eval()", model=bare(model)), alone=True)
        self.report(
            node,
            f"`{name}` is still in training mode when `{self.model.shown(run.func)}(…)` runs it: "
            f"call `{name}.eval()` after loading",
            fix(f"Insert `{name}.eval()`", set_eval, rests_on=unknown("the predictions change")),
            strict=self.model.code.is_commented_out(f"{name}.eval()", node),
        )
