from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import again, expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class MetricDenominator(Rule):
    """
    ## What it does
    Finds figures over a loader that are divided by the wrong count: hits, which are summed sample by sample, and losses
    times the size of their batch, by the number of batches; and mean losses, which are summed batch by batch, by the number
    of samples, be that a length, a name for one, or the number of batches times the size of one. So are figures within the
    loop that are divided by what has been seen so far. Batches of one sample, as a loader of another file may give, are
    neither. A loss of several terms counts as a mean if one of them is the mean of a loss of torch and none may be a sum
    over samples.

    ## Why is this bad
    The figure is off by the size of a batch. An accuracy is above 100 % then, which somebody may notice; a loss that is 64
    times too small looks like a good one, and is compared with others that were averaged correctly.

    ## Example
    ```python
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print("accuracy", correct / len(test_loader))
    ```

    ## Use instead
    ```python
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print("accuracy", correct / len(test_loader.dataset))
    ```

    ## Fix safety
    Unsafe: the figures change. Where a sampler or `drop_last` leaves samples out, `len(loader.dataset)` counts them all the
    same; where the last batch is smaller, the mean of the batches' means is a little off, too. There is no fix within the
    loop, nor where the number of batches and their size are divided by one after the other.

    ## References
    - [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
    """

    code = "TPL603"
    name = "metric-denominator"
    triggers = (Found(".numerics.denominators:Denominators.found"),)
    needs = (("torch", "nn"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the length that a sum is divided by."""
        self._report(node)

    def visit_Name(self, node: cst.Name) -> None:
        """Reports a name that stands for such a length."""
        self._report(node)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        """Reports the number of batches, or that times their size."""
        self._report(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        """Reports one of several lengths: ``dataset_sizes[phase]``."""
        self._report(node)

    def _report(self, node: cst.BaseExpression) -> None:
        wrong = self.model.numbers.wrong_denominator(node)
        if wrong is None:
            return
        total, loader = self.model.shown(wrong.total), self.model.shown(wrong.loader)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
            self.report(node, f"`{total}` adds up means of batches, and is divided by the size of a batch, too")
            return
        if wrong.of_samples:
            message = f"`{total}` is summed over samples, and `{self.model.shown(node)}` is the number of batches"
            counted = wrong.counted if isinstance(node, cst.Call) else again(wrong.loader)
            right = expression("len({loader}.dataset)", loader=counted)
        else:
            message = f"`{total}` adds up means of batches, and `{self.model.shown(node)}` is the number of samples"
            right = expression("len({loader})", loader=again(wrong.loader))
        if wrong.running:
            self.report(node, message)
            return
        title = f"Divide by the number of {'samples' if wrong.of_samples else 'batches'} of `{loader}`"
        self.report(node, message, fix(title, replace(node, right), rests_on=unknown("the figures change")))
