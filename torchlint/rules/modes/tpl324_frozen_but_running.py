from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Statement, fix, insert_behind
from torchlint.fixes.code import compound, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class FrozenButRunning(Rule):
    """
    ## What it does
    Finds calls of `train()` on models of which a part is frozen that has batch normalisation, where nothing puts that part back
    into evaluation mode.

    ## Why is this bad
    `requires_grad = False` keeps the weights of a layer as they are. The running mean and variance of batch normalisation are
    buffers: in training mode each forward changes them, and normalises with the batch at hand. The part that should be frozen
    drifts, and gives other features in evaluation than those that the head was trained on.

    ## Example
    ```python
    import torchvision

    model = torchvision.models.resnet18(weights="DEFAULT")
    for p in model.layer1.parameters():
        p.requires_grad = False
    model.train()
    ```

    ## Use instead
    ```python
    import torchvision

    model = torchvision.models.resnet18(weights="DEFAULT")
    for p in model.layer1.parameters():
        p.requires_grad = False
    model.train()
    model.layer1.eval()
    ```

    A model that is all frozen but for a new head is reported as strict: its features drift likewise, which many trainings bear.

    ## Fix safety
    Unsafe: the running statistics stay what they are from now on. The part is put into evaluation mode behind `train()`; of a
    model that is frozen as a whole, but for its head, all batch normalisation is.

    Not reported are parts that the file puts into evaluation mode anywhere, or thaws again, copies that follow another model,
    modules that have a `train` of their own, and files that say of layers how they count: `layer.momentum = 0`.

    ## References
    - [torch.nn.BatchNorm2d](https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html)
    """

    code = "TPL324"
    name = "frozen-but-running"
    triggers = (Found(".training.frozen_running:FrozenRunningParts.found"),)
    needs = (("requires_grad", "requires_grad_"), ("train",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call of `train()`."""
        running = self.model.training.frozen_running(node)
        if running is None or not isinstance(node.func, cst.Attribute):
            return
        model = node.func.value
        shown = self.model.shown(model)
        parts = [".".join(path) for path in running.paths]
        if parts:
            named, those = " and ".join(f"`{shown}.{part}`" for part in parts), "it" if len(parts) == 1 else "them"
            still: list[Statement] = [statement(f"{{model}}.{part}.eval()", model=model) for part in parts]
        else:
            named, those = f"`{shown}`, but for its head,", "those layers"
            still = [compound(_ALL, model=model)]
        self.report(
            node,
            f"{named} {'are' if len(parts) > 1 else 'is'} frozen in line {self.model.line(running.frozen)}, but the batch "
            f"normalisation goes on counting in training mode; call `eval()` on {those} behind `{shown}.train()`",
            fix(
                "Put it back into evaluation mode",
                *(insert_behind(self.model.statement(node), each, alone=True) for each in still),
                rests_on=unknown("the running statistics stay what they are"),
            ),
            strict=not parts,
        )


_ALL = """\
for module in {model}.modules():
    if isinstance(module, {torch.nn.modules.batchnorm._BatchNorm}):
        module.eval()
"""
