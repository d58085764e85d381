from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class FrozenInOptimizer(Rule):
    """
    ## What it does
    Finds optimizers that are given all of `model.parameters()` where a part of the model was frozen before.

    ## Why is this bad
    An optimizer skips parameters that have no gradient, and those that were frozen before the first backward never get one. If
    they still have a gradient of zeros from earlier training (`zero_grad(set_to_none=False)`, the default before torch 2.0),
    weight decay goes on shrinking the weights that should be frozen, and momentum is kept for them. Each parameter that is
    given to the optimizer is also listed in its `state_dict()`.

    ## Example
    ```python
    for p in model.backbone.parameters():
        p.requires_grad = False
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    ```

    ## Use instead
    ```python
    for p in model.backbone.parameters():
        p.requires_grad = False
    optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.1)
    ```

    ## Fix safety
    Safe where the model and the optimizer are used for nothing but training in the same scope: frozen parameters are not to be
    changed. Unsafe where other code is given the model, which may thaw it, where the optimizer's state or parameters are read
    (a state that was saved before has more entries than the new one), where gradients are set by hand, or were computed before
    the optimizer was made, which would apply or clear them, and where nothing may be left to train.

    Not reported are models of which a part is unfrozen later on, since the optimizer needs it then, and parameter groups.

    ## References
    - [torch.optim](https://docs.pytorch.org/docs/stable/optim.html)
    """

    code = "TPL307"
    name = "frozen-in-optimizer"
    default = False
    severity = "warning"
    triggers = (Found(".training.freezing:Freezing.given"),)
    needs = (("requires_grad", "requires_grad_"), ("parameters",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the `model.parameters()` that an optimizer is given."""
        given = self.model.training.frozen_given(node)
        if given is None or not isinstance(given.optimizer, cst.Call):
            return
        named = f"`{self.model.shown(given.named)}`"
        part = f"a part of {named}" if given.is_part else named
        optimizer = self.model.shown(given.optimizer.func)
        wanted = expression("(p for p in {parameters} if p.requires_grad)", parameters=node)
        self.report(
            node,
            f"{part} is frozen in line {self.model.line(given.frozen)}, but `{optimizer}` is given all of "
            f"`{self.model.shown(node)}`; give it those that require grad",
            fix(
                "Give only those that require grad", replace(node, wanted), rests_on=self.model.training.may_be_given_less(node)
            ),
        )
