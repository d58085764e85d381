from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, insert_behind, remove, replace
from torchlint.fixes.code import expression, holds_comment, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class SchedulerMisuse(Rule):
    """
    ## What it does
    Finds learning rates that do not follow their schedule: the scheduler is never moved on, or only under conditions that do
    not hold where it was made; it counts batches and is moved on once an epoch, or the other way round; it is moved on before
    the optimizer makes its first step; or another optimizer takes the place of the one that it was made for. And a scheduler
    of the file that scales `super().get_lr()`, where that goes on from the rates of the step before.

    One that is never moved on, but for a step that is commented out, is a strict finding: somebody meant that.

    ## Why is this bad
    Without `step()` the rate stays as it is. A `OneCycleLR` that is as long as all batches together, and is moved on once an
    epoch, never gets out of its warm-up. A cosine over as many steps as there are epochs, moved on in each batch, goes up and
    down from one end to the other. What is moved on first leaves out the first rate: torch has warned of it since 1.1.

    Since torch 1.4 the `get_lr` of `StepLR`, `MultiStepLR`, `ConstantLR`, `LinearLR`, `ExponentialLR`, `PolynomialLR`,
    `CosineAnnealingLR` and `MultiplicativeLR` starts from `group["lr"]`, which a factor of the step before is in already: a
    warm-up over 500 steps, `[lr * factor for lr in super().get_lr()]`, makes nothing of any rate. `LambdaLR`, `CyclicLR`,
    `OneCycleLR` and `CosineAnnealingWarmRestarts` start from `base_lrs`, and are not reported.

    ## Example
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for epoch in range(epochs):
        scheduler.step()
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
    ```

    ## Use instead
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        scheduler.step()
    ```

    ## Fix safety
    Unsafe: the learning rates are others. A call that comes first is moved to the end of the loop, where each round comes to
    that; a length in epochs is multiplied with the number of batches; `super()._get_closed_form_lr()`, which torch's
    schedulers have but for `MultiplicativeLR`, computes the rates from `base_lrs`. There is no fix for the others.

    A finding is strict where a scheduler is moved on first in each batch: one batch is hardly noticed; and where a factor does
    not depend on `last_epoch`: it may be meant to be applied in each step. Not reported where code
    that the file does not show is given the scheduler, where its optimizer is not stepped beside another one that is, or where
    nothing moves it on and the file sets rates by hand (`group["lr"] = rate`). A call that comes first may stand under a
    condition that is the same in every round: an option (`args.cosine`), a constant, what an object is made with and keeps, or
    that there is a scheduler. Under any other it is not reported.

    ## References
    - [torch.optim: how to adjust the learning rate](https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate)
    """

    code = "TPL321"
    name = "scheduler-misuse"
    triggers = (
        Found(".schedules.compounding:CompoundingSchedules.found"),
        Found(".schedules.early:EarlySchedules.found"),
        Found(".schedules.idle:IdleSchedules.unused"),
        Found(".schedules.idle:IdleSchedules.left_behind"),
        Found(".schedules.units:Schedules.wrong_units"),
    )
    needs = (
        (
            *("lr_scheduler", "scheduler", "sched", "get_linear_schedule_with_warmup", "get_cosine_schedule_with_warmup"),
            *("get_constant_schedule_with_warmup", "get_polynomial_decay_schedule_with_warmup"),
        ),
        ("step", "get_lr"),
    )

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a scheduler that is moved on too early, never, or in the wrong unit, and one that scales its rates anew."""
        self._report_early(node)
        self._report_unused(node)
        self._report_left_behind(node)
        self._report_unit(node)
        self._report_compounding(node)

    def _report_early(self, node: cst.Call) -> None:
        early = self.model.training.early_schedule(node)
        if early is None:
            return
        shown = self.model.shown(node)
        change = None
        if early.statement and early.behind and not holds_comment(early.statement):
            step = statement("{scheduler}.step()", scheduler=early.scheduler)
            change = fix(
                f"Call `{shown}` at the end of the loop",
                insert_behind(early.behind, step),
                remove(early.statement, but_comment=True),
                rests_on=unknown("the learning rates are others"),
            )
        self.report(
            node,
            f"`{shown}` is called before the first `{self.model.shown(early.step)}`, which leaves out the first learning rate; "
            "call it afterwards",
            change,
            strict=early.is_batch,
        )

    def _report_unused(self, node: cst.Call) -> None:
        if (step := self.model.training.unused_schedule(node)) is not None:
            shown = self.model.shown(step)
            self.report(
                node,
                f"nothing calls `step()` of this scheduler, so that the learning rate of `{shown}` stays as it is",
                strict=self._is_commented_out(node),
            )

    def _is_commented_out(self, scheduler: cst.Call) -> bool:
        """Whether a comment of the function has the step, or of the file that of an attribute: `# scheduler.step()`."""
        match self.model.parent(scheduler):
            case cst.Assign(targets=[cst.AssignTarget(target=target)]):
                step = f"{self.model.shown(target)}.step("
                return self.model.code.is_commented_out(step, scheduler, anywhere=isinstance(target, cst.Attribute))
        return False

    def _report_left_behind(self, node: cst.Call) -> None:
        if (left := self.model.training.left_behind(node)) is not None:
            optimizer, scheduler = self.model.shown(left.optimizer), self.model.shown(left.scheduler)
            self.report(
                node, f"`{optimizer}` is replaced here, and `{scheduler}` goes on with the one before; make the scheduler anew"
            )

    def _report_unit(self, node: cst.Call) -> None:
        wrong = self.model.training.wrong_unit(node)
        if wrong is None:
            return
        length, step = self.model.shown(wrong.length), self.model.shown(wrong.step)
        if wrong.in_batches:
            self.report(node, f"`{length}` counts batches, and `{step}` is called once an epoch; call it for each batch")
            return
        product = expression("{length} * len({loader})", length=wrong.length, loader=wrong.loader) if wrong.loader else None
        self.report(
            node,
            f"`{length}` counts epochs, and `{step}` is called for each batch; call it once an epoch, or count batches",
            fix(
                f"Use `{self.model.shown(product)}`",
                replace(wrong.length, product),
                rests_on=unknown("the learning rates are others"),
            )
            if product
            else None,
        )

    def _report_compounding(self, node: cst.Call) -> None:
        compounding = self.model.training.compounding(node)
        if compounding is None:
            return
        change, instead = None, "self.base_lrs"
        if compounding.has_closed_form:
            changed = [
                (call, _renamed(call, "_get_closed_form_lr")) for call in compounding.calls if isinstance(call, cst.Call)
            ]
            instead = self.model.shown(_renamed(node, "_get_closed_form_lr"))
            change = fix(
                f"Use `{instead}`",
                *(replace(call, new) for call, new in changed),
                rests_on=unknown("the learning rates are others"),
            )
        shown, factor = self.model.shown(node), self.model.shown(compounding.factor)
        self.report(
            node,
            f"`{shown}` starts from the rates of the step before, in which `{factor}` is already: it is applied once more in "
            f"each step; scale `{instead}`",
            change,
            strict=not compounding.of_epoch,
        )


def _renamed(call: cst.Call, method: str) -> cst.Call:
    """A call of another method of what a method is called on."""
    assert isinstance(call.func, cst.Attribute)
    return call.with_changes(func=call.func.with_changes(attr=cst.Name(method)))
