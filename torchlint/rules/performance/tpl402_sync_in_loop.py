from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, insert_behind, replace
from torchlint.fixes.code import expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.devices.synchronisations import Reading, Total

_LONGEST = 50
_CLOSINGS = {
    Total.FLOAT: "{total} = float({total})",
    Total.INTEGER: "{total} = int({total})",
    Total.LIST: "{total} = {torch.stack}({total}).tolist() if {total} else []",
}
"""What reads, after the loop, what a loop has kept of tensors."""


class SyncInLoop(Rule):
    """
    ## What it does
    Finds what a training loop reads back from the GPU in every step: `total += loss.item()`, `float(loss)`, `out.cpu()`,
    `print(loss)`, `writer.add_scalar("loss", loss)`, `bar.set_postfix(loss=loss)`, `if loss > 10:`, `if torch.isnan(loss):`.
    Code that runs under a condition, such as logging every hundred steps (`if i % 100 == 0 and torch.isnan(loss):`), is left
    alone, and so are what stands right behind a `torch.cuda.synchronize()` and what was read before, as `n = loss.cpu()` does.

    ## Why is this bad
    The program waits there until the GPU has computed everything that was queued, and queues nothing meanwhile: in each step
    the GPU then waits for the program in turn.

    ## Example
    ```python
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(total)
    ```

    ## Use instead
    ```python
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        total += loss.detach()
    total = float(total)
    print(total)
    ```

    ## Fix safety
    Unsafe: the sum is computed in the tensor's precision instead of Python's. A fix is given for a sum, or a list, that the
    loop does nothing else with; what is read is then read once, after the loop. For anything else there is none, nor where
    the loop waits for something else in each step: nothing would be won.

    ## References
    - [Avoid unnecessary CPU-GPU synchronization](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html)
    """

    code = "TPL402"
    name = "sync-in-loop"
    default = False
    severity = "warning"
    yields_to = ("TPL319",)
    triggers = (
        Found(".devices.synchronisations:Synchronisations.readings"),
        Found(".devices.synchronisations:Synchronisations.conditions"),
    )
    needs = (("backward", "manual_backward", "grad", "training_step"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a call that reads a value back."""
        reading = self.model.devices.reading(node)
        if reading is None:
            return
        where = "every step of the loop" if reading.loop is not None else "every training step"
        mended = self._fix(node, reading)
        kept = self.model.code.written(_kept(self.model.code.plain(reading.tensor)))
        advice = f"add up `{kept}` and read it after the loop" if mended else "read it every n steps, or after the loop"
        self.report(node, f"`{self._short(node)}` waits for the GPU in {where}: {advice}", mended)

    def visit_If(self, node: cst.If) -> None:
        """`if loss > 100:`"""
        self._check_condition(node)

    def visit_While(self, node: cst.While) -> None:
        """`while loss > 0.1:`"""
        self._check_condition(node)

    def visit_Assert(self, node: cst.Assert) -> None:
        """`assert loss > 0`"""
        self._check_condition(node)

    def _check_condition(self, node: cst.If | cst.While | cst.Assert) -> None:
        """Reports the parts of a condition that ask for a tensor's value."""
        for part in self.model.devices.awaited_conditions(node):
            advice = "ask it every n steps, or use `torch.where`"
            self.report(part, f"`{self._short(part)}` waits for the GPU in every step: {advice}")

    def _short(self, node: cst.BaseExpression) -> str:
        """An expression for a message; of a long call, its name."""
        text = self.model.shown(node)
        if len(text) > _LONGEST and isinstance(node, cst.Call):
            text = f"{self.model.shown(node.func)}(…)"
        return text if len(text) <= _LONGEST else "…"

    def _fix(self, call: cst.Call, reading: Reading[cst.BaseExpression, cst.CSTNode]) -> CodeFix | None:
        """Reads the value after the loop, which keeps the tensor."""
        if reading.loop is None or reading.total is None:
            return None
        closing = statement(_CLOSINGS[reading.total], total=cst.Name(reading.name))
        return fix(
            "Read the value after the loop",
            replace(call, _kept(reading.tensor)),
            insert_behind(reading.loop, closing, alone=True),
            rests_on=unknown("the sum is computed in the precision of the tensor, not of Python"),
        )


def _kept(tensor: cst.BaseExpression) -> cst.BaseExpression:
    """What is kept of a tensor until after the loop."""
    match tensor:
        case cst.Call(cst.Attribute(attr=cst.Name("detach"))):
            return tensor
        case cst.Attribute(value, cst.Name("data")):
            return expression("{value}.detach()", value=value)
    return expression("{tensor}.detach()", tensor=tensor)
