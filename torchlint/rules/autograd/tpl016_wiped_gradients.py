from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, insert_behind, move, remove
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class WipedGradients(Rule):
    """
    ## What it does
    Finds `zero_grad()` between `backward()` and the `step()` that should use the gradients; and `zero_grad()` in every round
    of a loop that makes a step every n-th round only, to accumulate gradients: under `if (i + 1) % n == 0:`, or behind an `if`
    with `continue`.

    ## Why is this bad
    The step finds no gradients, or zeros, and changes no weight. The loss is computed, the loop runs, nothing is learnt. Where
    gradients should have been accumulated, the step uses those of a single round, and the work of the others is lost.

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
    Unsafe: the call is moved in front of the backward, and the model starts to learn; or behind the step, which then uses the
    gradients of all rounds. There is no fix where backward and call are not statements of the same block.

    ## References
    - [torch.optim.Optimizer.zero_grad](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html)
    """

    code = "TPL016"
    name = "wiped-gradients"
    triggers = (
        Found(".steps.wiping:Wiping.wiped"),
        Found(".steps.lost_rounds:LostAccumulation.found"),
        Found(".steps.wiped_rounds:WipedRounds.found"),
    )
    needs = (("zero_grad",), ("step", "optimizer_step"), ("backward", "manual_backward"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call that wipes the gradients."""
        wiped = self.model.training.wiped(node)
        if wiped is None:
            self._report_lost_rounds(node)
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

    def _report_lost_rounds(self, node: cst.Call) -> None:
        """Reports a call in every round of an accumulation."""
        lost = self.model.training.lost_rounds(node)
        if lost is None:
            return
        shown, step = self.model.shown(node), self.model.shown(lost.step)
        self.report(
            node,
            f"`{shown}` wipes the gradients in every round, and `{step}` uses them every few rounds; call it behind the step",
            fix(
                f"Call `{shown}` behind `{step}`",
                remove(self.model.statement(node)),
                *(insert_behind(each, cst.Expr(node)) for each in lost.behind),
                rests_on=unknown("the step uses the gradients of all rounds"),
            ),
        )
