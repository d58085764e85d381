from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, insert_before, insert_behind, remove, replace
from torchlint.fixes.code import expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.mixed_precision.autocasts import InAutocast


class ScalerMisuse(Rule):
    """
    ## What it does
    Finds a `GradScaler` that is used by halves: the loss is scaled, and a plain `optimizer.step()` uses the scaled gradients,
    or `scaler.step(optimizer)` is called in a loop, and `scaler.update()` nowhere. Also a backward pass in an autocast region;
    that is strict where nothing in the region is computed with autocast off.

    ## Why is this bad
    A plain step takes gradients that are 65536 times too large, and takes them where they are infinite, too. Without
    `update()`, the second `scaler.step` of an optimizer raises. A backward pass needs no autocast: it runs in the types that
    the forward pass chose. What that computed with autocast off is the exception: within the region, its gradients are rounded
    to half precision.

    ## Example
    ```python
    scaler = torch.amp.GradScaler()
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        optimizer.step()
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
        scaler.step(optimizer)
        scaler.update()
    ```

    ## Fix safety
    Unsafe: the steps become as long as they were meant, and are left out where gradients are infinite. A backward pass leaves
    its region with the calls that follow it there, if there is code behind the region; gradients are rounded otherwise.

    Not reported where something unscales the gradients before the step, or code that the file does not show may do that, or may
    update the scaler.

    ## References
    - [Automatic mixed precision examples](https://docs.pytorch.org/docs/stable/notes/amp_examples.html)
    - [torch.autocast](https://docs.pytorch.org/docs/stable/amp.html#torch.autocast)
    """

    code = "TPL310"
    name = "scaler-misuse"
    triggers = (
        Found(".mixed_precision.scaling:ScaledGradients.stepped"),
        Found(".mixed_precision.updating:ScalerUpdates.missing"),
        Found(".mixed_precision.autocasts:AutocastBackwards.found"),
    )
    needs = (("GradScaler", "scaler", "scale", "autocast"), ("backward", "step"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a plain step, a step without an update, or a backward pass in an autocast region."""
        self._report_plain_step(node)
        self._report_missing_update(node)
        self._report_autocast(node)

    def _report_plain_step(self, node: cst.Call) -> None:
        stepped = self.model.training.stepped_scaled(node)
        if stepped is None:
            return
        scaler, optimizer = stepped.scaler, stepped.optimizer
        step = expression("{scaler}.step({optimizer})", scaler=scaler, optimizer=optimizer)
        change = replace(node, step) if not node.args else None
        self.report(
            node,
            f"`{self.model.shown(node)}` uses the gradients of `{self.model.shown(stepped.backward)}`, which are still scaled; "
            f"use `{self.model.shown(step)}`",
            fix(
                f"Use `{self.model.shown(step)}`",
                change,
                rests_on=unknown("the steps are as much shorter as the loss is scaled"),
            )
            if change
            else None,
        )

    def _report_missing_update(self, node: cst.Call) -> None:
        missing = self.model.training.never_updated(node)
        if missing is None:
            return
        scaler = self.model.shown(missing.scaler)
        self.report(
            node,
            f"`{scaler}` is never updated, so that the second `{self.model.shown(node)}` raises; "
            f"call `{scaler}.update()` behind it",
            fix(
                f"Insert `{scaler}.update()`",
                insert_behind(missing.behind, statement("{scaler}.update()", scaler=missing.scaler)),
                rests_on=unknown("training goes on where it ended with an error"),
            )
            if missing.behind
            else None,
        )

    def _report_autocast(self, node: cst.Call) -> None:
        found = self.model.training.in_autocast(node)
        if found is None:
            return
        damage = "which rounds the gradients of its float32 part" if found.float32 else "which it does not need"
        self.report(
            node,
            f"`{self.model.shown(node)}` runs in an autocast region, {damage}; leave the region first",
            self._outside(found),
            strict=not found.float32,
        )

    def _outside(self, found: InAutocast[cst.CSTNode]) -> CodeFix | None:
        """The backward pass, and what the region does after it, behind the region."""
        if found.behind is None or not found.tail or any(map(self.model.code.comment_on_line, found.tail)):
            return None
        calls = [each for each in found.tail if isinstance(each, cst.BaseSmallStatement)]
        moved = [change for each in calls for change in (insert_before(found.behind, each, alone=True), remove(each))]
        rests_on = unknown("gradients are rounded otherwise")
        return fix("Leave the region first", *moved, rests_on=rests_on)
