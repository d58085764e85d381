from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import api
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.scores.loss_inputs import WrongInput

_WITH_LOGITS = {
    "torch.nn.BCELoss": "torch.nn.BCEWithLogitsLoss",
    "torch.nn.functional.binary_cross_entropy": "torch.nn.functional.binary_cross_entropy_with_logits",
}


class LogitsToBce(Rule):
    """
    ## What it does
    Finds `BCELoss` and `binary_cross_entropy` that are given what a linear layer or a convolution gives, with no sigmoid
    behind it.

    ## Why is this bad
    The loss takes probabilities. A logit below zero or above one raises, which may be in the thousandth batch; until then the
    loss is that of something else.

    ## Example
    ```python
    scores = nn.Linear(8, 1)(x)
    loss = F.binary_cross_entropy(scores, y)
    ```

    ## Use instead
    ```python
    scores = nn.Linear(8, 1)(x)
    loss = F.binary_cross_entropy_with_logits(scores, y)
    ```

    ## Fix safety
    Unsafe: the loss is another one. A `BCELoss` is replaced where it is made, if all that it is given are logits; else there is
    no fix.

    ## References
    - [torch.nn.BCELoss](https://docs.pytorch.org/docs/stable/generated/torch.nn.BCELoss.html)
    - [torch.nn.BCEWithLogitsLoss](https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html)
    """

    code = "TPL605"
    name = "logits-to-bce"
    triggers = (Found(".scores.loss_inputs:LossInputs.raw"),)
    needs = (("BCELoss", "binary_cross_entropy", "criterion", "loss_fn", "loss_func", "loss_function", "loss_fct"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call of the loss."""
        found = self.model.modules.raw_input(node)
        if found is None:
            return
        stable = _WITH_LOGITS[found.name].rpartition(".")[2]
        made = f"`{self.model.shown_call(found.made)}` in {found.there or f'line {self.model.line(found.made)}'}"
        message = f"`{self.model.shown(node.func)}` expects probabilities, but is given logits, made by {made}; use `{stable}`"
        self.report(node, message, self._fix(found))

    def _fix(self, found: WrongInput[cst.BaseExpression]) -> CodeFix | None:
        """The loss of logits, where it is made or called."""
        new = _WITH_LOGITS[found.name]
        made = found.call if "functional" in found.name else found.construction
        if not isinstance(made, cst.Call) or self.model.name(made.func) != found.name:
            return None
        short = new.rpartition(".")[2]
        func = made.func
        renamed = func.with_changes(attr=cst.Name(short)) if isinstance(func, cst.Attribute) else api(new)
        return fix(f"Use `{short}`", replace(func, renamed), rests_on=unknown("the loss is another one"))
