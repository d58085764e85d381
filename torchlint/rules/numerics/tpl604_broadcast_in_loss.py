from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class BroadcastInLoss(Rule):
    """
    ## What it does
    Finds losses and figures of a column, with a shape of `(B, 1)`, and a vector, with one of `(B,)`: what a linear layer with
    one output gives, or `gather`, against what was squeezed, reduced, or is made a column elsewhere.

    ## Why is this bad
    The two are broadcast to `(B, B)`: each item is compared with all others, and the mean of that is trained on. The model
    learns the mean of the targets. No error says so; torch warns in some losses of its own, and in a loss that is written out
    nothing does.

    ## Example
    ```python
    q = nn.Linear(8, 4)(states).gather(1, actions.unsqueeze(1))
    best = nn.Linear(8, 4)(states).max(1)[0]
    loss = ((q - best) ** 2).mean()
    ```

    ## Use instead
    ```python
    q = nn.Linear(8, 4)(states).gather(1, actions.unsqueeze(1))
    best = nn.Linear(8, 4)(states).max(1)[0]
    loss = ((q.squeeze(-1) - best) ** 2).mean()
    ```

    ## Fix safety
    Unsafe: the loss is another one, which is what was meant.

    Not reported where it is not known of both what shape they have.

    ## References
    - [Broadcasting semantics](https://docs.pytorch.org/docs/stable/notes/broadcasting.html)
    """

    code = "TPL604"
    name = "broadcast-in-loss"
    triggers = (Found(".numerics.broadcasts:Broadcasts.found"),)
    needs = (("Linear", "gather"),)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        """Reports an operation on both."""
        self._report(node)

    def visit_Comparison(self, node: cst.Comparison) -> None:
        """Reports a comparison of both."""
        self._report(node)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a loss that is given both."""
        self._report(node)

    def _report(self, node: cst.BaseExpression) -> None:
        found = self.model.numbers.broadcast(node)
        if found is None:
            return
        column, vector = self.model.shown(found.column, 40), self.model.shown(found.vector, 40)
        squeezed = expression("{column}.squeeze(-1)", column=found.column)
        result = "and torch only warns" if found.warns else "without a warning"
        self.report(
            node,
            f"`{column}` has shape (B, 1) and `{vector}` has (B,): together they are (B, B), {result}; "
            f"use `{self.model.shown(squeezed, 50)}`",
            fix("Squeeze the column", replace(found.column, squeezed), rests_on=unknown("the loss is another one")),
        )
