from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, move
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class ClipOutOfOrder(Rule):
    """
    ## What it does
    Finds gradients that are clipped where no step of an optimizer sees it: behind the `step()` that used them, or in front of
    the `backward()`, when the old ones have just been wiped.

    ## Why is this bad
    Nothing is clipped. One batch with large gradients changes the weights as far as they point, which is what the clipping was
    written against, and no error says so.

    ## Example
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    ```

    ## Use instead
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    ```

    ## Fix safety
    Unsafe: gradients are clipped, and training takes another course. There is no fix for a clipping in front of the backward,
    and where it is not in one block with the step.

    Reported only where the backward, the step and `zero_grad` are all in sight, in the same loop or function or in others of
    the file that it calls, and where no other code is given the optimizer.

    ## References
    - [torch.nn.utils.clip_grad_norm_](https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html)
    """

    code = "TPL311"
    name = "clip-out-of-order"
    triggers = (Found(".steps.clipping:Clippings.idle"),)
    needs = (("backward", "manual_backward"), ("step", "optimizer_step"), ("zero_grad",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the clipping."""
        idle = self.model.training.idle_clip(node)
        if idle is None:
            return
        step, backward = self.model.shown(idle.step), self.model.shown(idle.backward)
        if idle.is_early:
            self.report(
                node,
                f"the gradients are wiped when they are clipped, and come from `{backward}` afterwards; "
                f"clip between that and `{step}`",
            )
            return
        self.report(
            node,
            f"the gradients are clipped when `{step}` has used them; clip between `{backward}` and the step",
            fix(
                f"Clip before `{step}`",
                move(idle.moved, idle.before),
                rests_on=unknown("gradients are clipped, and training takes another course"),
            )
            if idle.moved and idle.before
            else None,
        )
