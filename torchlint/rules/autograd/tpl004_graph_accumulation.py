from __future__ import annotations

import libcst as cst

from torchlint.fact import known
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.target import TorchVersion


class GraphAccumulation(Rule):
    """
    ## What it does
    Finds values that carry the autograd graph and are added to something that outlives the loop: `total_loss += loss`,
    `total = total + loss * n`, `losses.append(loss)`, `history[k] = loss`.

    ## Why is this bad
    The sum, or the list, holds the graph of every step. Memory grows with the number of steps until it runs out, though
    only the number was wanted.

    ## Example
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total_loss += loss
    ```

    ## Use instead
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total_loss += loss.item()
    ```

    ## Fix safety
    Safe: what is accumulated is not back-propagated, so its value is all that counts. `.item()` is used where the
    accumulator is a number; `.detach()` where it is used as a tensor or handed to code that the file does not show. Unsafe
    where the value is only likely a tensor (a model's output, a loss that an imported function returned), which may have
    neither method. There is no fix for a dict that holds the loss, nor where the value may be a tuple.

    ## References
    - [My model reports "cuda runtime error(2): out of memory"](https://docs.pytorch.org/docs/stable/notes/faq.html)
    """

    code = "TPL004"
    name = "graph-accumulation"
    since = TorchVersion(0, 4)
    triggers = (Found(".autograd.accumulation:Accumulations.leaks"),)
    needs = (("backward", "training_step", "autograd", "eval"),)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        """`total += loss`, `stats["loss"] += loss`."""
        self._check(node)

    def visit_Assign(self, node: cst.Assign) -> None:
        """`total = total + loss`, `history[k] = loss`."""
        self._check(node)

    def visit_Expr(self, node: cst.Expr) -> None:
        """`losses.append(loss)`."""
        self._check(node)

    def _check(self, statement: cst.BaseSmallStatement) -> None:
        leak = self.model.autograd.accumulation(statement)
        if leak is None:
            return
        if leak.as_numbers is not None and self.options.accumulate_with == "item":
            method, parts = "item", leak.as_numbers
        else:
            method, parts = "detach", leak.as_tensors
        [value, *_] = leak.values
        target, verb = self.model.shown(leak.target), "keeps" if leak.kept else "sums"
        added = f"`{self.model.shown(value)}`" if self.model.is_on_one_line(value) else "`the value`"
        cuts = [replace(part, expression(f"{{part}}.{method}()", part=part)) for part in parts]
        self.report(
            statement,
            f"`{target}` {verb} {added} with its autograd graph: memory grows with every step; use `.{method}()`",
            fix(f"Add `.{method}()`", *cuts, rests_on=known(leak.certain, "the value may be no tensor"))
            if leak.mendable
            else None,
        )
