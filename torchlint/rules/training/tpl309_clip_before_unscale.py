from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, insert_before
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class ClipBeforeUnscale(Rule):
    """
    ## What it does
    Finds gradients that are clipped between `scaler.scale(loss).backward()` and `scaler.step(optimizer)` with no
    `scaler.unscale_(optimizer)` before it; or of which a figure is made there, as `p.grad.norm()` to be logged.

    ## Why is this bad
    A `GradScaler` multiplies the loss, and with it all gradients, by 65536 at first. Their norm is as many times too large, so
    nearly every step is clipped, to a length that is the bound divided by the scale once `scaler.step` has unscaled the
    gradients. Clipping by value cuts off nearly all of them at the same bound. Adam makes steps of the usual length of them all
    the same, so that nobody notices.

    ## Example
    ```python
    scaler = torch.amp.GradScaler()
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    ```

    ## Use instead
    ```python
    scaler = torch.amp.GradScaler()
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    ```

    ## Fix safety
    Unsafe: the gradients are clipped to the bound that was meant, and training takes another course. There is no fix where
    several optimizers make steps, where the backward, the clipping and the step are in different functions, and where the
    gradients would be unscaled twice before a step, which raises.

    Not reported where code that the file does not show is given the scaler between the backward and the clipping, and where the
    scale is asked for there: the gradients may be divided by it. Nor is a figure that tells the same of scaled gradients:
    whether it is finite or zero, the ratio of two.

    ## References
    - [Automatic mixed precision examples: gradient clipping](https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping)
    """

    code = "TPL309"
    name = "clip-before-unscale"
    triggers = (Found(".mixed_precision.scaling:ScaledGradients.clipped"),)
    needs = (("scale",), ("backward",), ("step",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the clipping."""
        clipped = self.model.training.clipped_scaled(node)
        if clipped is None:
            return
        scaler, optimizer = self.model.shown(clipped.scaler), clipped.optimizer
        change = None
        if optimizer is not None:
            unscale = statement("{scaler}.unscale_({optimizer})", scaler=clipped.scaler, optimizer=optimizer)
            change = fix(
                f"Insert `{scaler}.unscale_({self.model.shown(optimizer)})`",
                insert_before(self.model.statement(node), unscale),
                rests_on=unknown("the gradients are clipped to another length, and training takes another course"),
            )
        wanted = f"`{scaler}.unscale_({self.model.shown(optimizer)})`" if optimizer else f"`{scaler}.unscale_`"
        used = f"`{self.model.shown(node)}` is computed" if clipped.is_look else "they are clipped"
        self.report(
            node,
            f"the gradients of `{self.model.shown(clipped.backward)}` are still scaled when {used}; call {wanted} first",
            change,
        )
