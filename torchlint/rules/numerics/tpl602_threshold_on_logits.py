from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class ThresholdOnLogits(Rule):
    """
    ## What it does
    Finds logits that are compared with 0.5, or rounded, as if they were probabilities: a loss that applies the sigmoid itself,
    `BCEWithLogitsLoss`, is given the same value, or another one that the same model gives.

    Not reported is what a model gives that the file does not know, where the project has a model whose forward ends in a
    sigmoid: then one half may be right, and the loss wrong.

    ## Why is this bad
    A probability of one half is a logit of 0. A logit of 0.5 is a probability of 0.62: what lies between them is counted as
    negative, and rounding even gives numbers other than 0 and 1. The accuracy is wrong, and with it all that rests on it.

    ## Example
    ```python
    criterion = nn.BCEWithLogitsLoss()
    output = model(x)
    loss = criterion(output, y)
    accuracy = ((output > 0.5) == y).float().mean()
    ```

    ## Use instead
    ```python
    criterion = nn.BCEWithLogitsLoss()
    output = model(x)
    loss = criterion(output, y)
    accuracy = ((output > 0) == y).float().mean()
    ```

    ## Fix safety
    Unsafe: what is predicted changes. The comparison is made with 0; rounding of a tensor becomes `logits.gt(0).float()`.

    ## References
    - [torch.nn.BCEWithLogitsLoss](https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html)
    """

    code = "TPL602"
    name = "threshold-on-logits"
    triggers = (Found(".scores.thresholded_logits:ThresholdedLogits.found"),)
    needs = (("BCEWithLogitsLoss", "binary_cross_entropy_with_logits"),)

    def visit_Comparison(self, node: cst.Comparison) -> None:
        """Reports a comparison with one half."""
        self._report(node)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a call that rounds."""
        self._report(node)

    def _report(self, node: cst.BaseExpression) -> None:
        taken = self.model.modules.thresholded_logits(node)
        if taken is None:
            return
        if taken.half is not None:
            change = replace(taken.half, cst.Integer("0"))
        else:
            change = replace(node, expression("{logits}.gt(0).float()", logits=taken.logits))
        is_mended = taken.half is not None or not taken.is_array
        self.report(
            node,
            f"`{self.model.shown(taken.logits)}` is no probability but a logit, as the loss in line "
            f"{self.model.line(taken.loss)} takes it: one half is at 0",
            fix("Compare with 0", change, rests_on=unknown("what is predicted changes")) if is_mended else None,
        )
