from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class UnscaledAccumulation(Rule):
    """
    ## What it does
    Finds accumulation of gradients over several batches whose losses are means, and are not divided by the number of batches.

    ## Why is this bad
    The gradients of all the batches add up. Each is that of a mean, so the sum is as many times the gradient of one large batch
    as there are batches: the learning rate, and the bound of a clipping, are no longer what they were for that batch, and
    change with the number of batches that are accumulated.

    ## Example
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
    ```

    ## Use instead
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        (loss / every).backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
    ```

    ## Fix safety
    Unsafe: the gradients are smaller, and the learning rate may have been chosen for the larger ones.

    A finding is strict where the optimizer is Adam or one like it, whose steps are as long for larger gradients. Not reported
    where the number of rounds is divided by or multiplied with anywhere in the file, and where it is not certain that the loss
    is a mean; what is called a criterion is taken to give one where the number of rounds says that it is for accumulation.

    ## References
    - [Automatic mixed precision examples: gradient accumulation](https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation)
    """

    code = "TPL312"
    name = "unscaled-accumulation"
    triggers = (Found(".steps.accumulation:UnscaledAccumulation.found"),)
    needs = (("backward",), ("step",), ("zero_grad",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the backward of one round."""
        unscaled = self.model.training.unscaled_accumulation(node)
        if unscaled is None:
            return
        loss = expression("{loss} / {rounds}", loss=unscaled.loss, rounds=unscaled.rounds)
        shown, step = self.model.shown(unscaled.rounds), self.model.shown(unscaled.step)
        self.report(
            node,
            f"the gradients of {shown if shown.isdigit() else f'`{shown}`'} means add up for `{step}`; "
            f"back-propagate `{self.model.shown(loss)}`",
            fix(
                f"Divide the loss by `{shown}`",
                replace(unscaled.loss, loss),
                rests_on=unknown("the learning rate may have been chosen for larger gradients"),
            ),
            strict=unscaled.is_even,
        )
