from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, move
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class WipedGradients(Rule):
    """
    ## What it does
    Finds `zero_grad()` between `backward()` and the `step()` that should use the gradients.

    ## Why is this bad
    The step finds no gradients, or zeros, and changes no weight. The loss is computed, the loop runs, nothing is learnt.

    ## Example
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
    ```

    ## Use instead
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ```

    ## Fix safety
    Unsafe: the call is moved in front of the backward, and the model starts to learn. There is no fix where the two are not
    statements of the same block.

    ## References
    - [torch.optim.Optimizer.zero_grad](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html)
    """

    code = "TPL016"
    name = "wiped-gradients"
    triggers = (Found(".training.wiping:Wiping.wiped"),)
    needs = (("zero_grad",), ("step", "optimizer_step"), ("backward", "manual_backward"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call that wipes the gradients."""
        wiped = self.model.training.wiped(node)
        if wiped is None:
            return
        shown = self.model.shown(node)
        moved = None
        if wiped.before is not None:
            moved = fix(
                f"Move `{shown}` before the backward",
                move(self.model.statement(node), wiped.before),
                rests_on=unknown("the model starts to learn"),
            )
        self.report(
            node,
            f"`{shown}` wipes the gradients of `{self.model.shown_call(wiped.backward)}` before "
            f"`{self.model.shown(wiped.step)}` uses them; call it before the backward",
            moved,
        )
